import { toId, type AttemptKey, type LogPosition, type LogsFrame, type LogStream } from '@svc/contract';
import { giveWay, type PluginContext } from '@svc/kernel';
import type { AgentNode, HelloContext, Nodes, WelcomePart } from '@svc/plugin-nodes';
import type { AttemptLog } from './attempt-log.js';
import type { AttemptNodes } from './attempt-nodes.js';
import type { Compressor } from './compressor.js';
import { linesAppended } from './hooks.js';
import type { LogState } from './log-record.js';
import type { RetryingLogStore } from './retrying-log-store.js';

/** A frame that could not be stored is answered after this, so that an agent tries again at a bearable rate. */
const RETRY_MS = 1_000;
const COMPLAIN_EVERY_MS = 60_000;
const STREAMS = ['stdout', 'stderr'] as const;

/** Says where the log stands for certain, or stood after that frame. */
type Answer = (log: AttemptLog, state?: LogState) => void;

/** Takes the log frames of agents. Each is answered by the mark from which its agent is to go on. */
export class LogIntake {
  #complainedAt = -Infinity;

  constructor(
    private readonly ctx: PluginContext,
    private readonly logs: RetryingLogStore,
    private readonly attemptNodes: AttemptNodes,
    private readonly nodes: Nodes,
    private readonly compressor: Compressor,
  ) {}

  async frame(frame: LogsFrame, from: AgentNode): Promise<void> {
    const answer = this.#answerTo(frame, from);
    const key = await this.#ownKey(frame, from);
    // Nobody will ever want these lines: the agent need not keep them.
    if (!key) return this.#ack(from, { ...toKey(frame), stream: frame.stream, offset: frame.to, lines: 0 });
    const take = async (log: AttemptLog) => {
      if (!(await this.#append(log, frame))) return this.#later(() => answer(log));
      // Not waited for: frames that come meanwhile are written, and synced together.
      void this.logs.with(key, () => this.#answerSynced(log, answer));
    };
    await this.logs.with(key, take, answer);
  }

  /** Must hold: what an agent is told that we have, it may give away. */
  async #answerSynced(log: AttemptLog, answer: Answer): Promise<void> {
    // Together: what is taken back between the two would be told to the agent.
    const { state } = log;
    const synced = log.synced();
    try {
      await synced;
      answer(log, state);
      if (log.isComplete) this.compressor.want({ job_id: log.jobId, attempt: log.attempt });
    } catch (err) {
      this.#complain(err, log);
      this.#later(() => answer(log));
    }
  }

  /** Where the agent is to go on in each log that it has. */
  async hello({ hello }: HelloContext): Promise<WelcomePart> {
    const log_positions: LogPosition[] = [];
    for (const report of hello.attempts) {
      await giveWay();
      const key = await this.#ownKey(report, { id: hello.node_id });
      if (!key) continue;
      await this.logs.with(key, async (log) => {
        await log.synced().catch((err: unknown) => this.#complain(err, log));
        log_positions.push(...STREAMS.map((stream) => toPosition(report, stream, log.keptState)));
      });
    }
    return { log_positions };
  }

  /** The attempt in canonical form; null when it is not one of that node. */
  async #ownKey({ job_id, attempt }: AttemptKey, node: { readonly id: string }): Promise<AttemptKey | null> {
    const id = toId('job', job_id);
    const key = id === null ? null : { job_id: id, attempt };
    if (key && (await this.attemptNodes.nodeOf(key)) === node.id) return key;
    this.ctx.log.warn(
      { job_id, attempt, node_id: node.id },
      'log lines of an attempt that is not of that node were refused',
    );
    return null;
  }

  /** False when the disk does not take it. */
  async #append(log: AttemptLog, frame: LogsFrame): Promise<boolean> {
    try {
      const lines = await log.append(frame, this.ctx.clock.now());
      if (lines.length > 0)
        void this.ctx.fire(linesAppended, { job_id: log.jobId, attempt: log.attempt, lines });
      return true;
    } catch (err) {
      this.#complain(err, log);
      return false;
    }
  }

  #ack({ id }: AgentNode, position: LogPosition): void {
    this.nodes.send(id, { type: 'logs_ack', ...position });
  }

  /** Says the mark of the frame's stream, if the connection is still the one on which it came. */
  #answerTo({ job_id, attempt, stream }: LogsFrame, from: AgentNode): Answer {
    const connection = this.nodes.connectionOf(from.id);
    return (log, state = log.keptState) => {
      if (this.nodes.connectionOf(from.id) === connection)
        this.#ack(from, toPosition({ job_id, attempt }, stream, state));
    };
  }

  #later(answer: () => void): void {
    const timer = this.ctx.clock.setTimeout(() => {
      this.ctx.signal.removeEventListener('abort', timer.clear);
      answer();
    }, RETRY_MS);
    this.ctx.signal.addEventListener('abort', timer.clear);
  }

  #complain(err: unknown, log: AttemptLog): void {
    const now = this.ctx.clock.now();
    if (now - this.#complainedAt < COMPLAIN_EVERY_MS) return;
    this.#complainedAt = now;
    this.ctx.log.error(
      { err, job_id: log.jobId, attempt: log.attempt },
      'log lines cannot be stored; their agent keeps them and tries again',
    );
  }
}

/** The attempt as its agent names it. */
function toKey({ job_id, attempt }: AttemptKey): AttemptKey {
  return { job_id, attempt };
}

function toPosition(key: AttemptKey, stream: LogStream, { marks, lines }: LogState): LogPosition {
  return { ...toKey(key), stream, offset: marks[stream], lines: lines[stream] };
}
