import type { Exit } from '@svc/contract';
import type { AttemptMark, ProcessIdentity } from './process-table.js';

/** One line of JSON on the shim's stdin: the only way in for what is secret. */
export interface ShimOrder {
  /** Where `started.json` and `exit.json` are left. */
  readonly dir: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Variables of `env` that tell the attempt's processes from all others. */
  readonly mark: AttemptMark;
  /** Named in messages, to say where something is missing. */
  readonly host: string;
}

/** `started.json`: the process exists. */
export interface Started extends ProcessIdentity {
  readonly boot_id: string;
  /** Milliseconds since the Unix epoch. */
  readonly started_at: number;
}

/** `exit.json`: how the main process ended, or why none was started. */
export type Ended = Exit & { readonly finished_at: number };

export const STARTED_FILE = 'started.json';
export const EXIT_FILE = 'exit.json';
