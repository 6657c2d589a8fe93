import {
  toId,
  type AttemptKey,
  type LogPosition,
  type LogsFrame,
  type LogStream,
  type PartialFrame,
} from '@svc/contract';
import { yieldIfSliceOver, type PluginContext } from '@svc/kernel';
import type { AgentNode, HelloContext, Nodes, WelcomePart } from '@svc/plugin-nodes';
import type { AttemptLog } from './attempt-log.js';
import type { AttemptNodes } from './attempt-nodes.js';
import type { Compressor } from './compressor.js';
import { linesAppended } from './hooks.js';
import type { LogState } from './log-record.js';
import type { PartialLines } from './partial-lines.js';
import { PartialPace } from './partial-pace.js';
import { RefusedFrames } from './refused-frames.js';
import type { RetryingLogStore } from './retrying-log-store.js';

/** A frame that could not be stored is answered after this delay, which limits how often the agent retries. */
const RETRY_AFTER_MS = 1_000;
const REPORT_EVERY_MS = 60_000;
const STREAMS = ['stdout', 'stderr'] as const;

/** Acknowledges the given state of the log; by default the state that is synced to disk. */
type Answer = (log: AttemptLog, state?: LogState) => void;

/** Stores the log frames of agents and answers each with the offset from which the agent is to continue. */
export class LogIntake {
  #reportedAt = -Infinity;
  readonly #refused: RefusedFrames;
  readonly #partialPace: PartialPace;

  constructor(
    private readonly ctx: PluginContext,
    private readonly logs: RetryingLogStore,
    private readonly attemptNodes: AttemptNodes,
    private readonly nodes: Nodes,
    private readonly compressor: Compressor,
    private readonly partials: PartialLines,
  ) {
    this.#refused = new RefusedFrames(ctx.log, ctx.clock);
    this.#partialPace = new PartialPace(ctx.clock);
  }

  async frame(frame: LogsFrame, from: AgentNode): Promise<void> {
    if (!this.#mayAsk(frame, from)) return;
    const answer = this.#answerTo(frame, from);
    const key = await this.#ownKey(frame, from);
    // The lines belong to no attempt of this node: acknowledge them, so that the agent drops them.
    if (!key) return this.#ack(from, { ...toKey(frame), stream: frame.stream, offset: frame.to, lines: 0 });
    this.partials.end(key, frame.stream);
    const take = async (log: AttemptLog) => {
      if (!(await this.#append(log, frame))) return this.#later(() => answer(log));
      // Not awaited: frames that arrive during the sync are written in the meantime and share the next sync.
      void this.logs.with(key, () => this.#answerSynced(log, answer));
    };
    await this.logs.with(key, take, answer);
  }

  async partial(frame: PartialFrame, from: AgentNode): Promise<void> {
    if (!this.#partialPace.take(frame, from.id) || !this.#mayAsk(frame, from)) return;
    const connection = this.nodes.connectionOf(from.id);
    const key = await this.#ownKey(frame, from);
    if (key) this.partials.take(key, frame, { nodeId: from.id, connection });
  }

  /** Must hold: only what is synced to disk is acknowledged, as the agent deletes what is acknowledged. */
  async #answerSynced(log: AttemptLog, answer: Answer): Promise<void> {
    // Read in the same tick as the sync starts: a state that is rolled back later must not be acknowledged.
    const { state } = log;
    const synced = log.synced();
    try {
      await synced;
      answer(log, state);
      if (log.isComplete) this.compressor.enqueue({ job_id: log.jobId, attempt: log.attempt });
    } catch (err) {
      this.#reportFailure(err, log);
      this.#later(() => answer(log));
    }
  }

  /** The offsets from which the agent is to continue, for each log that it has. */
  async hello({ hello }: HelloContext): Promise<WelcomePart> {
    const log_positions: LogPosition[] = [];
    for (const report of hello.attempts) {
      await yieldIfSliceOver();
      const key = await this.#ownKey(report, { id: hello.node_id });
      if (!key) continue;
      await this.logs.with(key, async (log) => {
        await log.synced().catch((err: unknown) => this.#reportFailure(err, log));
        log_positions.push(...STREAMS.map((stream) => toPosition(report, stream, log.durableState)));
      });
    }
    return { log_positions };
  }

  /** False: its connection is closed instead. An agent loses nothing by that: it comes back, and sends again what was not acknowledged. */
  #mayAsk({ job_id }: AttemptKey, { id }: AgentNode): boolean {
    const jobId = toId('job', job_id);
    if (jobId === null || this.attemptNodes.knows(jobId) || this.#refused.mayLookUp(id)) return true;
    this.nodes.reconnect(id, 'too many log frames of jobs that are not of this node');
    return false;
  }

  /** The attempt in canonical form; null when it was not dispatched to that node. */
  async #ownKey({ job_id, attempt }: AttemptKey, node: { readonly id: string }): Promise<AttemptKey | null> {
    const id = toId('job', job_id);
    const key = id === null ? null : { job_id: id, attempt };
    if (key && (await this.#nodeOf(key, node.id)) === node.id) return key;
    this.#refused.refused({ job_id, attempt }, node.id);
    return null;
  }

  #nodeOf(key: AttemptKey, asking: string): Promise<string | null> {
    const answer = () => this.attemptNodes.nodeOf(key);
    return this.attemptNodes.knows(key.job_id) ? answer() : this.#refused.lookUp(asking, answer);
  }

  /** False when the write fails. */
  async #append(log: AttemptLog, frame: LogsFrame): Promise<boolean> {
    try {
      const lines = await log.append(frame, this.ctx.clock.now());
      if (lines.length > 0)
        void this.ctx.fire(linesAppended, { job_id: log.jobId, attempt: log.attempt, lines });
      return true;
    } catch (err) {
      this.#reportFailure(err, log);
      return false;
    }
  }

  #ack({ id }: AgentNode, position: LogPosition): void {
    this.nodes.send(id, { type: 'logs_ack', ...position });
  }

  /** Sends the offset of the frame's stream, if the node still has the connection on which the frame came. */
  #answerTo({ job_id, attempt, stream }: LogsFrame, from: AgentNode): Answer {
    const connection = this.nodes.connectionOf(from.id);
    return (log, state = log.durableState) => {
      if (this.nodes.connectionOf(from.id) === connection)
        this.#ack(from, toPosition({ job_id, attempt }, stream, state));
    };
  }

  #later(answer: () => void): void {
    const timer = this.ctx.clock.setTimeout(() => {
      this.ctx.signal.removeEventListener('abort', timer.clear);
      answer();
    }, RETRY_AFTER_MS);
    this.ctx.signal.addEventListener('abort', timer.clear);
  }

  #reportFailure(err: unknown, log: AttemptLog): void {
    const now = this.ctx.clock.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    this.ctx.log.error(
      { err, job_id: log.jobId, attempt: log.attempt },
      'log lines cannot be stored; their agent keeps them and tries again',
    );
  }
}

/** The attempt with its id as the agent has written it. */
function toKey({ job_id, attempt }: AttemptKey): AttemptKey {
  return { job_id, attempt };
}

function toPosition(key: AttemptKey, stream: LogStream, { marks, lines }: LogState): LogPosition {
  return { ...toKey(key), stream, offset: marks[stream], lines: lines[stream] };
}
