import { toId, type SpoolFrame } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { AgentNode } from '@svc/plugin-nodes';
import type { Runs } from '@svc/plugin-runs';

/** How many attempts are remembered. If the attempt has a run, the key of the event also prevents that it is stored twice. */
const MAX_REPORTED = 10_000;

interface Services {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly events: Events;
}

/** Stores one event for each attempt with refused records. It describes the first frame in which records were refused. */
export class RefusalEvents {
  readonly #reported = new Set<string>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'transaction' | 'log'>,
    private readonly services: Services,
  ) {}

  /** Never rejects: the records stay refused when the event cannot be stored. */
  async report(frame: SpoolFrame, from: AgentNode, reasons: readonly string[]): Promise<void> {
    const [reason] = reasons;
    const { job_id, attempt, file } = frame;
    const name = `${from.id} ${job_id} ${attempt}`;
    if (reason === undefined || this.#reported.has(name)) return;
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear();
    // Must hold: it is added before the first await, as frames of other files come in the meantime.
    this.#reported.add(name);
    try {
      await this.#store(frame, from, reasons.length, reason);
    } catch (err) {
      this.#reported.delete(name);
      this.ctx.log.error(
        { err, job_id, attempt, file, reason },
        'cannot store the event about refused spool records',
      );
    }
  }

  async #store(frame: SpoolFrame, from: AgentNode, count: number, reason: string): Promise<void> {
    const { db } = this.ctx;
    const { jobs, runs, events } = this.services;
    const { attempt, file } = frame;
    const job_id = toId('job', frame.job_id);
    const known = job_id && (await jobs.attempt(db, { job_id, attempt }));
    // An agent may report only its own attempts.
    if (!known || known.node_id !== from.id) return;
    const body = {
      title: `At least ${count === 1 ? '1 spooled record was' : `${count} spooled records were`} refused`,
      message: `${reason}. The agent ${from.name} keeps all refused records of the attempt in its refused.jsonl, and goes on with the rest.`,
      severity: 'warning' as const,
      data: { attempt, file, refused: count, reason, node_id: from.id },
    };
    const run = await runs.givenTo(db, { job_id, attempt, node_id: from.id });
    if (run) {
      await events.report(run, { body, key: `spool-refused-attempt-${attempt}` });
    } else {
      const draft = { ...body, type: 'CUSTOM' as const, job_id, node_id: from.id };
      await this.ctx.transaction((tx) => events.append(tx, draft));
    }
  }
}
