import type { ServerFrame } from '../agent-protocol.js';
import { JOB_TYPES, LOG_STREAMS, VERDICTS } from './enums.js';

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isAnything: Check = (value) => value !== undefined;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const record =
  (shape: Shape): Check =>
  (value) =>
    isObject(value) && findFlaw(shape, value as object) === null;
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value as object).every(check);

type Shape = Readonly<Record<string, Check>>;

/** It becomes the name of a directory. */
const isJobId: Check = (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);
const isSha256: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const KEY = { job_id: isJobId, attempt: (value: unknown) => isCount(value) && value !== 0 };
const DELIVERED = {
  file: isString,
  offset: isCount,
  refused: listOf(record({ to: isCount, reason: isString })),
};
const POSITION = { ...KEY, stream: oneOf(LOG_STREAMS), offset: isCount, lines: isCount };

/** What an agent reads of each frame. The schemas say it too, but cost an agent 15 MB of memory; the test holds both to the same. */
const SHAPES: { readonly [T in ServerFrame['type']]: Shape } = {
  welcome: {
    protocol: isCount,
    node_id: isString,
    node_secret: isString,
    server_version: isString,
    heartbeat_ms: (value) => isCount(value) && (value as number) > 0,
    verdicts: listOf(record({ ...KEY, verdict: oneOf(VERDICTS) })),
    log_positions: listOf(record(POSITION)),
    channels: (value) => value === undefined || listOf(isString)(value),
  },
  refused: { code: isString, message: isString },
  dispatch: {
    ...KEY,
    job_type: oneOf(JOB_TYPES),
    run_id: orNull(isString),
    name: isString,
    runner: isString,
    plan: isAnything,
    env: mapOf(isString),
    working_dir: orNull((value) => isString(value) && (value as string).startsWith('/')),
    snapshot: (value) => value === undefined || orNull(isSha256)(value),
    gpu_indices: listOf(isCount),
    kill_grace_ms: isCount,
  },
  start: KEY,
  node_metrics_ack: { ts: isCount, late: (value) => value === undefined || value === true },
  stop: { ...KEY, grace_ms: isCount },
  forget: KEY,
  logs_ack: POSITION,
  spool_ack: { ...KEY, ...DELIVERED },
  channel_ack: { channel: isString, ...DELIVERED },
};

/** A frame of the server; null for a type that is not known here. Throws on anything malformed. */
export function parseServerFrame(text: string): ServerFrame | null {
  const frame: unknown = JSON.parse(text);
  const type = isObject(frame) ? (frame as { type?: unknown }).type : undefined;
  if (typeof type !== 'string') throw new TypeError('a frame without a type');
  if (!Object.hasOwn(SHAPES, type)) return null;
  const flaw = findFlaw(SHAPES[type as ServerFrame['type']], frame as object);
  if (flaw !== null) throw new TypeError(`a ${type} frame with a wrong ${flaw}`);
  return frame as ServerFrame;
}

function findFlaw(shape: Shape, value: object): string | null {
  const fields = value as Record<string, unknown>;
  return Object.keys(shape).find((name) => shape[name]?.(fields[name]) === false) ?? null;
}
