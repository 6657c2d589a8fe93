import { Type, type Static } from 'typebox';
import { VERDICTS } from './protocol/enums.js';
import { MAX_LINE_BYTES } from './protocol/limits.js';
import { Timestamp, nullable, strict } from './route.js';
import { JobType, Labels } from './records/job.js';
import { NodeMetricsAck, NodeMetricsFrame } from './node-metrics.js';
import { LogStream } from './records/log.js';
import { Sha256 } from './records/snapshot.js';
import { RunnerProbe, SlotSpec, SystemFacts } from './records/node.js';

/**
 * The agent protocol: JSON text frames over the WebSocket /api/v1/agent/ws, opened with a token of agent or write scope.
 *
 * 1. The agent sends `hello` first: who it is and every attempt in its care. The server answers `welcome` (a verdict for each
 *    of those attempts) or `refused` and closes. Nothing else is sent before that.
 * 2. The server sends `dispatch`; the agent answers `accepted` once the attempt's directory is durable, and starts nothing
 *    before the server has answered that with `start`: an acknowledgement that comes too late, when the server has given the
 *    attempt up or to another node, starts no process. Then comes `attempt` with state `running` once the process exists, then
 *    `attempt` with state `ended`. The server answers the last with `forget`.
 * 3. State is what the owner of the process says: an `attempt` frame may be repeated (it is, in every `hello`, until
 *    `forget`), and the server takes each one once. A closed socket says nothing about a process.
 * 4. Logs are idempotent by (stream, byte offset): a `logs` frame covers the bytes `from` to `to` of the stream's file on the
 *    agent. The server takes it only when `from` is its high-water mark, and answers every frame with `logs_ack`, its
 *    mark; the agent goes on from there. So nothing is kept on the agent but the file itself. Where the agent has given the
 *    beginning of a file up, a frame without lines covers what is missing and says how many lines that is: all that
 *    stood there, less those before the mark. A `partial` frame shows a line that has no end yet: it is a view, is never stored,
 *    and has no answer. The next `logs` frame of its stream ends it.
 * 5. What a training could not report itself lies in spool files of its attempt (spool-record.ts). A `spool` frame covers
 *    whole lines of one file. The server answers each with `spool_ack`: the offset before which every line is committed or
 *    refused for good. In place of a line that is too long to be a record the agent sends an empty one. The records are idempotent
 *    themselves, so that a frame may be sent again, also on another connection.
 * 6. A plugin with an agent half and a server half has `channel` frames of its own: spooled and acknowledged as spool files are.
 * 7. `node_metrics` frames tell how the host does. An agent keeps a sample until `node_metrics_ack` says that it is stored; what it
 *    measured while the server was away goes in frames of its own, marked `late`, beside those of the present.
 *
 * A receiver ignores frame types that it does not know. A protocol number other than its own is refused with a sentence.
 */

const AttemptKey = { job_id: Type.String(), attempt: Type.Integer({ minimum: 1 }) };
export interface AttemptKey {
  job_id: string;
  attempt: number;
}

/**
 * How an attempt ended. `result_invalid`: an evaluation exited with 0 and left no valid result. `dispatch_failed`: it never
 * started. `lost`: the owner cannot know how it ended. `oom`: it wanted more memory than there was; with `evidence` its log ends
 * in that error, else the kernel killed it, or a process of it, for that.
 */
export const Exit = Type.Union([
  strict({ kind: Type.Literal('exited'), code: Type.Integer() }),
  strict({ kind: Type.Literal('signaled'), signal: Type.String(), code: Type.Integer({ maximum: -1 }) }),
  strict({
    kind: Type.Literal('oom'),
    code: nullable(Type.Integer()),
    evidence: Type.Optional(Type.String({ maxLength: 1000 })),
  }),
  strict({ kind: Type.Literal('result_invalid'), message: Type.String() }),
  strict({ kind: Type.Literal('dispatch_failed'), message: Type.String() }),
  strict({ kind: Type.Literal('lost'), reason: Type.String() }),
]);
export type Exit = Static<typeof Exit>;

/**
 * The agent's word on one attempt. `accepted`: it waits for `start`, no process was ever made. `exit` and `finished_at` are
 * set when `state` is `ended`.
 */
export const AttemptReport = strict({
  ...AttemptKey,
  state: Type.Enum(['accepted', 'running', 'ended']),
  pid: nullable(Type.Integer()),
  started_at: nullable(Timestamp),
  exit: nullable(Exit),
  finished_at: nullable(Timestamp),
});
export type AttemptReport = Static<typeof AttemptReport>;

export const Hello = strict({
  type: Type.Literal('hello'),
  protocol: Type.Integer(),
  node_id: Type.String(),
  /** null on the very first hello; afterwards the secret that `welcome` gave. */
  node_secret: nullable(Type.String()),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  hostname: Type.String({ maxLength: 255 }),
  version: Type.String({ maxLength: 100 }),
  /** Changes when the host reboots: what ran before is then provably gone. */
  boot_id: Type.String({ maxLength: 100 }),
  labels: Labels,
  slots: Type.Array(SlotSpec, { maxItems: 1024 }),
  max_cpu_jobs: Type.Integer({ minimum: 0 }),
  runners: Type.Array(RunnerProbe, { maxItems: 100 }),
  system: SystemFacts,
  attempts: Type.Array(AttemptReport),
});
export type Hello = Static<typeof Hello>;

/** A runner can run jobs on this host from now on, or cannot any more. */
export const RunnersFrame = strict({ type: Type.Literal('runners'), runners: Hello.properties.runners });
/**
 * The slots of this host from now on, as in `hello`: one is new, is gone, or its health has changed. It holds for every frame that comes
 * after it: a slot that an attempt leaves behind in use is told so before the end of that attempt.
 */
export const SlotsFrame = strict({ type: Type.Literal('slots'), slots: Hello.properties.slots });
export const Heartbeat = strict({ type: Type.Literal('heartbeat'), ts: Timestamp });
export const Accepted = strict({ type: Type.Literal('accepted'), ...AttemptKey });
export const AttemptFrame = strict({ type: Type.Literal('attempt'), ...AttemptReport.properties });

/**
 * `ts` is when the agent saw the lines in the file, or gave them up. `end`: the stream's file is complete and `to` is its last byte.
 * A line of more than MAX_LINE_BYTES is split by the agent, so that none has more characters than that.
 */
export const LogsFrame = strict({
  type: Type.Literal('logs'),
  ...AttemptKey,
  stream: LogStream,
  from: Type.Integer({ minimum: 0 }),
  to: Type.Integer({ minimum: 0 }),
  ts: Timestamp,
  lines: Type.Array(Type.String({ maxLength: MAX_LINE_BYTES })),
  /** Lines between `from` and `to` that were given up because the spool was full. */
  dropped: Type.Integer({ minimum: 0 }),
  end: Type.Boolean(),
});
export type LogsFrame = Static<typeof LogsFrame>;

/**
 * The last state of a line that has no end yet; an empty text: there is none any more. Sent at most once a second for each stream, and only
 * while the agent has sent everything before it.
 */
export const PartialFrame = strict({
  type: Type.Literal('partial'),
  ...AttemptKey,
  stream: LogStream,
  ts: Timestamp,
  text: Type.String({ maxLength: MAX_LINE_BYTES }),
});
export type PartialFrame = Static<typeof PartialFrame>;

/** Lines of one spool file from the byte `from` on; `to` is the byte behind a line and its newline. */
export const SpoolFrame = strict({
  type: Type.Literal('spool'),
  ...AttemptKey,
  file: Type.String({ minLength: 1, maxLength: 255 }),
  from: Type.Integer({ minimum: 0 }),
  lines: Type.Array(strict({ to: Type.Integer({ minimum: 1 }), text: Type.String() }), { minItems: 1 }),
});
export type SpoolFrame = Static<typeof SpoolFrame>;

/**
 * Messages of an agent plugin to its server half, spooled on the agent as `spool` files are: each line is a `ChannelMessage` as JSON. An
 * agent sends those of channels that `welcome` names.
 */
export const ChannelFrame = strict({
  type: Type.Literal('channel'),
  channel: Type.String({ minLength: 1, maxLength: 100 }),
  file: SpoolFrame.properties.file,
  from: SpoolFrame.properties.from,
  lines: SpoolFrame.properties.lines,
});
export type ChannelFrame = Static<typeof ChannelFrame>;

/** `attempt`: the one that it is about; left out: it is about the host. */
export const ChannelMessage = strict({ message: Type.Unknown(), attempt: Type.Optional(strict(AttemptKey)) });
export type ChannelMessage = Static<typeof ChannelMessage>;

/** Every frame that an agent sends. */
export const AgentFrame = Type.Union([
  Hello,
  RunnersFrame,
  SlotsFrame,
  Heartbeat,
  Accepted,
  AttemptFrame,
  LogsFrame,
  PartialFrame,
  SpoolFrame,
  ChannelFrame,
  NodeMetricsFrame,
]);
export type AgentFrame = Static<typeof AgentFrame>;

export const Verdict = Type.Enum([...VERDICTS]);
export type Verdict = Static<typeof Verdict>;

export const LogPosition = strict({
  ...AttemptKey,
  stream: LogStream,
  offset: Type.Integer({ minimum: 0 }),
  /** Lines of the stream before `offset`: stored, or said to be given up. */
  lines: Type.Integer({ minimum: 0 }),
});
export type LogPosition = Static<typeof LogPosition>;

export const Welcome = strict({
  type: Type.Literal('welcome'),
  protocol: Type.Integer(),
  node_id: Type.String(),
  node_secret: Type.String(),
  server_version: Type.String(),
  heartbeat_ms: Type.Integer(),
  verdicts: Type.Array(strict({ ...AttemptKey, verdict: Verdict })),
  /** Where to go on in each stream of the attempts named in `hello`; 0 where none is given. */
  log_positions: Type.Array(LogPosition),
  /** Channels of agent plugins whose messages this server takes. Left out: none. */
  channels: Type.Optional(Type.Array(Type.String())),
});
export type Welcome = Static<typeof Welcome>;

export const Refused = strict({ type: Type.Literal('refused'), code: Type.String(), message: Type.String() });

/** What the agent is to run. `plan` is the runner's own; `env` holds everything but what the agent itself adds. */
export const Dispatch = strict({
  type: Type.Literal('dispatch'),
  ...AttemptKey,
  job_type: JobType,
  run_id: nullable(Type.String()),
  name: Type.String(),
  runner: Type.String(),
  plan: Type.Unknown(),
  env: Type.Record(Type.String(), Type.String()),
  /** null: the attempt's own directory `work`. */
  working_dir: nullable(Type.String()),
  /** The source tree that is to be unpacked in `work`. Left out: none. */
  snapshot: Type.Optional(nullable(Sha256)),
  gpu_indices: Type.Array(Type.Integer()),
  kill_grace_ms: Type.Integer({ minimum: 0 }),
});
export type Dispatch = Static<typeof Dispatch>;

/** The attempt is the agent's: it is to start the process. May be repeated. */
export const Start = strict({ type: Type.Literal('start'), ...AttemptKey });
export const Stop = strict({
  type: Type.Literal('stop'),
  ...AttemptKey,
  grace_ms: Type.Integer({ minimum: 0 }),
});
export const Forget = strict({ type: Type.Literal('forget'), ...AttemptKey });
export const LogsAck = strict({ type: Type.Literal('logs_ack'), ...LogPosition.properties });

/** `offset` below the last `to` of the frame: the rest cannot be stored now and is to be sent again later. */
export const SpoolAck = strict({
  type: Type.Literal('spool_ack'),
  ...AttemptKey,
  file: Type.String(),
  offset: Type.Integer({ minimum: 0 }),
  /** Lines before `offset` that are refused for good, by their `to`. */
  refused: Type.Array(strict({ to: Type.Integer(), reason: Type.String() })),
});
export type SpoolAck = Static<typeof SpoolAck>;

/** As `spool_ack`, for a `channel` frame. */
export const ChannelAck = strict({
  type: Type.Literal('channel_ack'),
  channel: Type.String(),
  file: SpoolAck.properties.file,
  offset: SpoolAck.properties.offset,
  refused: SpoolAck.properties.refused,
});
export type ChannelAck = Static<typeof ChannelAck>;

/** Every frame that the server sends. */
export const ServerFrame = Type.Union([
  Welcome,
  Refused,
  Dispatch,
  Start,
  Stop,
  Forget,
  LogsAck,
  SpoolAck,
  ChannelAck,
  NodeMetricsAck,
]);
export type ServerFrame = Static<typeof ServerFrame>;

export type FrameOf<F extends { type: string }, T extends F['type']> = Extract<F, { type: T }>;
