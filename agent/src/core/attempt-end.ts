import type { Exit } from '@svc/contract';

/** In an attempt's directory: how it ended. The runner may leave it there itself, so that an end is known that no agent saw. */
export const EXIT_FILE = 'exit.json';

/** What `exit.json` holds: how the main process ended, or why none was started. */
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
