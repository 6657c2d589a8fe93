import type { EventDraft } from '@svc/contract';
import { isDatabaseOutage, type PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Runs } from '@svc/plugin-runs';
import type { ToldOf } from './subjects.js';

type Subject = Pick<EventDraft, 'run_id' | 'job_id' | 'node_id'>;

/** While the database is away, so many findings wait. */
const MAX_WAITING = 1_000;
/** Among so many events of the type the same trouble is looked for. */
const LOOK_BACK = 100;

/** Makes findings into events: each once, also over a restart of the server, whose detectors begin anew. */
export class Announcer {
  #waiting: ToldOf[] = [];
  #running: Promise<void> | null = null;
  #isAway = false;

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'log' | 'clock' | 'transaction'>,
    private readonly of: { readonly events: Events; readonly runs: Runs; readonly jobs: Jobs },
  ) {}

  add(told: readonly ToldOf[]): void {
    if (told.length === 0) return;
    this.#waiting = [...this.#waiting, ...told].slice(-MAX_WAITING);
    if (!this.#isAway) this.#run();
  }

  /** To be called from time to time. */
  retry(): void {
    this.#isAway = false;
    if (this.#waiting.length > 0) this.#run();
  }

  async close(): Promise<void> {
    await this.#running;
  }

  #run(): void {
    this.#running ??= this.#drain().finally(() => (this.#running = null));
  }

  async #drain(): Promise<void> {
    for (let told = this.#waiting[0]; told; told = this.#waiting[0]) {
      try {
        await this.#announce(told);
      } catch (err) {
        const { detector } = told;
        this.#isAway = isDatabaseOutage(err);
        if (this.#isAway)
          return this.ctx.log.error({ err, detector }, 'a finding cannot be stored now; it is tried again');
        this.ctx.log.error({ err, detector }, 'a finding cannot be stored');
      }
      this.#waiting = this.#waiting.filter((other) => other !== told);
    }
  }

  async #announce(told: ToldOf): Promise<void> {
    const subject = await this.#subjectOf(told);
    if (subject === null) return;
    const fingerprint = `${told.detector}/${told.subject.id}/${told.finding.fingerprint}`;
    if (await this.#isKnown(told, subject, fingerprint)) return;
    const { type, severity, title, message, data } = told.finding;
    const draft = { type, severity, title, message, ...subject };
    const found = { ...data, detector: told.detector, fingerprint };
    await this.ctx.transaction((tx) => this.of.events.append(tx, { ...draft, data: found }));
  }

  /** null: it does not exist any more, or its trouble is history. */
  async #subjectOf({ subject: { of, id } }: ToldOf): Promise<Subject | null> {
    const { db } = this.ctx;
    if (of === 'node') return { node_id: id };
    if (of === 'run') {
      const [run] = await this.of.runs.find(db, [id]);
      if (!run || run.source === 'import') return null;
      return { run_id: id, job_id: run.job_id, node_id: await this.of.runs.nodeOf(db, id) };
    }
    const [job_id = '', attempt] = id.split('/');
    const place = await this.of.jobs.attempt(db, { job_id, attempt: Number(attempt) });
    return place && { job_id, run_id: place.run_id, node_id: place.node_id };
  }

  async #isKnown({ finding, cooldownMs }: ToldOf, subject: Subject, fingerprint: string): Promise<boolean> {
    const { run_id, job_id, node_id } = subject;
    const about = job_id ? { job_id } : run_id ? { run_id } : { node_id: node_id ?? null };
    const events = await this.of.events.list(this.ctx.db, { ...about, type: finding.type }, LOOK_BACK);
    const since = cooldownMs === null ? -Infinity : this.ctx.clock.now() - cooldownMs;
    const isSame = (data: Readonly<Record<string, unknown>>) => data['fingerprint'] === fingerprint;
    return events.some(
      ({ data, created_at }) => isSame(data as Readonly<Record<string, unknown>>) && created_at > since,
    );
  }
}
