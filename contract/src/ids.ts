import { monotonicFactory } from 'ulid';

/** The kind prefix of every identifier, by resource. */
export const ID_PREFIXES = {
  job: 'job_',
  run: 'run_',
  checkpoint: 'ckpt_',
  project: 'prj_',
  experiment: 'exp_',
  evaluation: 'eval_',
  event: 'evt_',
  node: 'node_',
  token: 'tok_',
  delivery: 'dlv_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const nextUlid = monotonicFactory();

/** A new identifier of that kind: prefix and ULID, monotonic within this process. */
export function newId(kind: IdKind, nowMs: number = Date.now()): string {
  return ID_PREFIXES[kind] + nextUlid(nowMs);
}

/**
 * The canonical (prefixed, upper-case) form of an identifier given with or without its prefix.
 * null when it is malformed or of another kind: callers answer that as they answer an unknown one.
 */
export function toId(kind: IdKind, input: string): string | null {
  const prefix = ID_PREFIXES[kind];
  const ulid = (input.startsWith(prefix) ? input.slice(prefix.length) : input).toUpperCase();
  return ULID.test(ulid) ? prefix + ulid : null;
}
