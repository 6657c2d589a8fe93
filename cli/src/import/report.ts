import type { SourceName } from './reading/found-run.js';
import type { Skipped } from './reading/skips.js';
import type { Tallies } from './writing/destination.js';

/** What became of one training. */
export interface RunReport {
  readonly name: string | null;
  readonly source: SourceName;
  readonly path: string;
  /** null: nothing was written. */
  readonly run_id: string | null;
  /** Made by this import. */
  readonly is_new: boolean;
  readonly points: Tallies['points'];
  readonly checkpoints: Tallies['checkpoints'];
  readonly events: Tallies['events'];
  readonly skipped: readonly Skipped[];
  /** Why not all of it could be read or written. */
  readonly error: string | null;
}

export interface ImportReport {
  readonly directory: string;
  readonly dry_run: boolean;
  readonly runs: readonly RunReport[];
  /** What was recognised and is no run, with the reason. */
  readonly left_out: readonly { readonly path: string; readonly reason: string }[];
  /** Whether everything that was recognised came in. */
  readonly complete: boolean;
}
