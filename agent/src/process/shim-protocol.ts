import type { Exit } from '@svc/contract';
import type { JobUser } from '../core/runner.js';
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

/** `exit.json`: how the main process ended, or why none was started. */
export type Ended = Exit & { readonly finished_at: number };

/** What exit.json holds; null for anything else: one bad file must not spoil every hello. */
export function toEnded(json: unknown): Ended | null {
  if (typeof json !== 'object' || json === null) return null;
  const { finished_at, ...rest } = json as Record<string, unknown>;
  const exit = toExit(rest);
  return exit !== null && isCount(finished_at) ? { ...exit, finished_at } : null;
}

/** How an attempt ended, without the time. */
export function withoutTime({ finished_at: _, ...exit }: Ended): Exit {
  return exit;
}

function toExit({ kind, code, signal, message, reason, evidence }: Record<string, unknown>): Exit | null {
  const hasCode = Number.isInteger(code);
  if (kind === 'exited' && hasCode) return { kind, code: code as number };
  if (kind === 'signaled' && hasCode && typeof signal === 'string')
    return { kind, signal, code: code as number };
  if (kind === 'oom' && (code === null || hasCode))
    return { kind, code: code as number | null, ...(typeof evidence === 'string' && { evidence }) };
  if (kind === 'result_invalid' && typeof message === 'string') return { kind, message };
  if (kind === 'dispatch_failed' && typeof message === 'string') return { kind, message };
  if (kind === 'lost' && typeof reason === 'string') return { kind, reason };
  return null;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

export const STARTED_FILE = 'started.json';
export const EXIT_FILE = 'exit.json';
