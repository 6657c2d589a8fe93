import { toId, type AttemptKey, type Run, type SpoolFrame } from '@svc/contract';
import { fail, HttpError, requireId, type Caller, type PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import type { Runs } from '@svc/plugin-runs';
import { parseRecord } from './parse-record.js';
import type { RecordStore } from './record-store.js';

/** Sent again, it would be refused again. What fails otherwise may be taken later. */
const LASTING = new Set(['validation_error', 'not_found', 'forbidden', 'conflict', 'payload_too_large']);
const COMPLAIN_EVERY_MS = 60_000;

interface Refused {
  readonly to: number;
  readonly reason: string;
}

/** Takes the spool frames of agents, line by line, and answers each frame with the mark that it has come to. */
export class SpoolIntake {
  private complainedAt = -Infinity;

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
    private readonly jobs: Jobs,
    private readonly runs: Runs,
    private readonly store: RecordStore,
  ) {}

  async frame(frame: SpoolFrame, from: AgentNode): Promise<void> {
    const { job_id, attempt, file } = frame;
    const runOf = this.runsOf(frame, from);
    const refused: Refused[] = [];
    let offset = frame.from;
    for (const { to, text } of frame.lines) {
      const reason = await this.take(text, runOf, frame);
      if (reason === 'later') break;
      if (reason !== null) refused.push({ to, reason });
      offset = to;
    }
    this.nodes.send(from.id, { type: 'spool_ack', job_id, attempt, file, offset, refused });
  }

  /** null: it is committed; otherwise why it is refused for good, or `later`. */
  private async take(
    text: string,
    runOf: (id: string) => Promise<Run>,
    key: AttemptKey,
  ): Promise<string | 'later' | null> {
    try {
      const record = parseRecord(text);
      await this.store.store(record, await runOf(record.run_id), toCaller(key));
      return null;
    } catch (error) {
      if (error instanceof HttpError && LASTING.has(error.code)) return error.message;
      this.complain(error, key);
      return 'later';
    }
  }

  /** Each run of a frame is looked for once. */
  private runsOf(key: AttemptKey, from: AgentNode): (id: string) => Promise<Run> {
    const known = new Map<string, Promise<Run>>();
    return (id) => {
      const run = known.get(id) ?? this.requireRun(key, from, id);
      known.set(id, run);
      return run;
    };
  }

  /** The run, when it is of that attempt on that node. */
  private async requireRun(key: AttemptKey, from: AgentNode, given: string): Promise<Run> {
    const id = requireId('run', given);
    const job_id = requireId('job', key.job_id);
    const { db } = this.ctx;
    const nodeId =
      (await this.runs.nodeOf(db, id)) ??
      (await this.jobs.attempt(db, { job_id, attempt: key.attempt }))?.node_id;
    if (nodeId !== from.id) fail('forbidden', `run ${id} is none of an attempt on node ${from.name}`);
    return this.runs.requireIngest(toCaller(key), id);
  }

  private complain(err: unknown, { job_id, attempt }: AttemptKey): void {
    const now = this.ctx.clock.now();
    if (now - this.complainedAt < COMPLAIN_EVERY_MS) return;
    this.complainedAt = now;
    this.ctx.log.error(
      { err, job_id, attempt },
      'a spooled record cannot be stored; its agent keeps it and tries again',
    );
  }
}

/** The agent speaks for the attempt: what its process could do with the token of the attempt, and no more. */
function toCaller({ job_id, attempt }: AttemptKey): Caller {
  const ingest = { job_id: toId('job', job_id) ?? job_id, attempt };
  return { token_id: '', name: 'spool', scope: 'sdk', ingest };
}
