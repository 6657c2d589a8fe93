const KIB = 1024;
export const MIB = 1024 * KIB;

/** Of the result file of an evaluation. */
export const EVALUATION_RESULT_BYTES = MIB;
/** As of a metric that a training logs, and without halves of surrogate pairs. */
export const EVALUATION_METRIC_NAME = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]{1,250}$';

/** Of the gzipped tar of a source tree. */
export const MAX_SNAPSHOT_BYTES = 200 * MIB;

/** An agent of another protocol number is refused. */
export const AGENT_PROTOCOL = 1;
/** Of the agents' WebSocket, below /api/v1. */
export const AGENT_SOCKET_PATH = '/agent/ws';
export const MAX_FRAME_BYTES = 16 * MIB;
export const HEARTBEAT_INTERVAL_MS = 25_000;
export const NODE_OFFLINE_AFTER_MS = 90_000;

/** Of a `node_metrics` frame. */
export const MAX_FRAME_SAMPLES = 300;
export const MAX_HOST_PROCESSES = 64;

/** A longer log line is split into pieces of at most this many bytes. */
export const MAX_LINE_BYTES = 16 * KIB;

/** Points that an agent has found in files have a seq from here on; those of an SDK begin at a random number of 52 bits. */
export const FOUND_SEQ_START = 2 ** 52;

/** The last line of a spool file: nothing comes behind it. */
export const SPOOL_END = '{"kind":"end"}';

/** Tags of a run. */
export const MAX_TAGS = 100;
/** Of the notes of a run, as UTF-8; the server checks the bytes, as a schema counts characters. */
export const NOTES_BYTES = 16 * 1024;
