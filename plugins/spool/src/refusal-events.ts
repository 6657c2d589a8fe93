import { createHash } from 'node:crypto';
import { toId, type SpoolFrame } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { AgentNode } from '@svc/plugin-nodes';
import type { Runs } from '@svc/plugin-runs';

/** Files that were told of, in memory: that a file is told of once is kept by the event's key. */
const MAX_TOLD = 10_000;

interface Services {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly events: Events;
}

/** Tells people that records were refused: one event for each spool file, with what is known when the first is. */
export class RefusalEvents {
  private readonly told = new Set<string>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log'>,
    private readonly services: Services,
  ) {}

  /** Never rejects: records are refused whether or not that can be told. */
  async tell(frame: SpoolFrame, from: AgentNode, reasons: readonly string[]): Promise<void> {
    const [reason] = reasons;
    const name = `${frame.job_id} ${frame.attempt} ${frame.file}`;
    if (reason === undefined || this.told.has(name)) return;
    try {
      await this.store(frame, from, reasons.length, reason);
      if (this.told.size >= MAX_TOLD) this.told.clear();
      this.told.add(name);
    } catch (err) {
      const { job_id, attempt, file } = frame;
      this.ctx.log.error({ err, job_id, attempt, file, reason }, 'cannot tell of refused spool records');
    }
  }

  private async store(frame: SpoolFrame, from: AgentNode, count: number, reason: string): Promise<void> {
    const { db, clock } = this.ctx;
    const { jobs, runs, events } = this.services;
    const { attempt, file } = frame;
    const job_id = toId('job', frame.job_id);
    const known = job_id && (await jobs.attempt(db, { job_id, attempt }));
    // An agent speaks for its own attempts alone.
    if (!known || known.node_id !== from.id) return;
    const body = {
      title: `${count === 1 ? 'A spooled record was' : `${count} spooled records were`} refused`,
      message: `${reason}. The agent ${from.name} keeps what is refused of this file in refused.jsonl of the attempt, and goes on.`,
      severity: 'warning' as const,
      data: { attempt, file, refused: count, reason, node_id: from.id },
    };
    const run = known.run_id === null ? null : await runs.get(db, known.run_id);
    if (run) {
      await events.report(run, { body, key: toKey(frame) });
    } else {
      const event = await events.append(
        db,
        { ...body, type: 'CUSTOM', job_id, node_id: from.id },
        clock.now(),
      );
      await events.publish([event]);
    }
  }
}

/** No training's own key. */
function toKey({ attempt, file }: SpoolFrame): string {
  const digest = createHash('sha256').update(`${attempt} ${file}`).digest('hex');
  return `spool-refused-${digest}`;
}
