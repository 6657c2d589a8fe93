import type { JobUser } from '@svc/agent';
import type { AttemptMark, ProcessIdentity } from './process-table.js';

/** A line of JSON on the shim's stdin: the only way in for what is secret. */
export interface ShimOrder {
  /** Where `started.json` and `exit.json` are left. */
  readonly dir: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** As whom it runs; null: as the shim does. */
  readonly user: JobUser | null;
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Variables of `env` that tell the attempt's processes from all others. */
  readonly mark: AttemptMark;
  /** Named in messages, to say where something is missing. */
  readonly host: string;
}

/** The other line on its stdin: of the job ordered last nothing is left. */
export type LeftoversKilled = null;

/** `started.json`: the process exists. */
export interface Started extends ProcessIdentity {
  readonly boot_id: string;
  /** Milliseconds since the Unix epoch. */
  readonly started_at: number;
}

export const STARTED_FILE = 'started.json';
