import { isTerminal, type AttemptKey, type DetectorInput, type Run, type WatchedJob } from '@svc/contract';
import { nextTurn, yieldIfSliceOver, type PluginContext } from '@svc/kernel';
import type { Announcer } from './announcer.js';
import type { Attempts } from './attempts.js';
import { Waiting, type Happening } from './happenings.js';
import { SteadyTime } from './steady-time.js';
import type { SubjectKey, Subjects, ToldOf } from './subjects.js';

const TICK_MS = 5_000;
const WARN_EVERY_MS = 60_000;

/**
 * Feeds the detectors with what happens, in order, behind the answers to those who reported it. What the detectors find goes to the announcer.
 */
export class Engine {
  readonly #waiting = new Waiting();
  readonly #time: SteadyTime;
  #running: Promise<void> | null = null;
  #warnedAt = -Infinity;
  #isClosed = false;

  constructor(
    private readonly ctx: Pick<PluginContext, 'clock' | 'log'>,
    private readonly attempts: Attempts,
    private readonly subjects: Subjects,
    private readonly announcer: Announcer,
    private readonly findRun: (id: string) => Promise<Run | null>,
  ) {
    this.#time = new SteadyTime(ctx.clock);
  }

  /** Returns what ends it; what waits is then dropped. */
  start(running: readonly WatchedJob[]): () => Promise<void> {
    for (const job of running) this.add({ kind: 'job', job, previousAttempt: null });
    const timer = this.ctx.clock.setInterval(() => this.#tick(), TICK_MS);
    return async () => {
      timer.clear();
      this.#isClosed = true;
      await this.#running;
      await this.announcer.close();
    };
  }

  /** Never waits, and never throws: it is called where points and lines are taken in. */
  add(happening: Happening): void {
    if (this.#isClosed) return;
    this.#waiting.add(happening);
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // The one who reports it gets an answer first.
    await nextTurn();
    for (let next = this.#waiting.take(); next && !this.#isClosed; next = this.#waiting.take()) {
      try {
        await this.#see(next);
      } catch (err) {
        this.ctx.log.error({ err }, `the detectors did not see ${next.kind}`);
      }
      await yieldIfSliceOver();
    }
    this.#running = null;
  }

  #tick(): void {
    this.#time.now();
    this.add({ kind: 'tick' });
    this.announcer.retry();
    if (this.#waiting.dropped === 0 || this.ctx.clock.now() - this.#warnedAt < WARN_EVERY_MS) return;
    const { dropped } = this.#waiting;
    this.ctx.log.warn(
      { dropped },
      'the detectors cannot keep up: points, lines and samples were not looked at',
    );
    this.#waiting.dropped = 0;
    this.#warnedAt = this.ctx.clock.now();
  }

  async #see(happening: Happening): Promise<void> {
    const at = this.#time.now();
    if (happening.kind === 'lines') return this.#seeLines(happening, at);
    if (happening.kind === 'points' && !(await this.#knowsRun(happening.run_id, at))) return;
    this.announcer.add(this.#toldBy(happening, at));
  }

  /** Lines are about their attempt, and about its run. */
  async #seeLines({ job_id, attempt, lines }: Happening & { kind: 'lines' }, at: number): Promise<void> {
    const place = await this.attempts.find({ job_id, attempt });
    if (place === null) return;
    const input: DetectorInput = { kind: 'log', at, job_id, attempt, lines };
    this.announcer.add(this.subjects.feed(toAttempt(place), input));
    if (place.run_id !== null && (await this.#knowsRun(place.run_id, at)))
      this.announcer.add(this.subjects.feed({ of: 'run', id: place.run_id }, input));
  }

  /** The detectors of a run that is new to them learn its state first: its last reports may come long after its end. False: it was deleted, or no detector is about runs. */
  async #knowsRun(id: string, at: number): Promise<boolean> {
    const key = { of: 'run', id } as const;
    if (this.subjects.has(key)) return true;
    const run = this.subjects.areWatched('run') ? await this.findRun(id) : null;
    if (run === null) return false;
    this.announcer.add(this.subjects.feed(key, { kind: 'run', at, run }));
    this.subjects.setOver(key, run.finished_at !== null);
    return true;
  }

  #toldBy(happening: Exclude<Happening, { kind: 'lines' }>, at: number): ToldOf[] {
    switch (happening.kind) {
      case 'points': {
        const { run_id, points } = happening;
        return this.subjects.feed({ of: 'run', id: run_id }, { kind: 'metric', at, run_id, points });
      }
      case 'run': {
        const { run } = happening;
        const key = { of: 'run', id: run.id } as const;
        this.subjects.setOver(key, run.finished_at !== null);
        return this.subjects.feedKnown(key, { kind: 'run', at, run });
      }
      case 'job':
        return this.#seeJob(happening, at);
      case 'node':
        return this.subjects.feed(
          { of: 'node', id: happening.node.id },
          { kind: 'node', at, node: happening.node },
        );
      case 'samples':
        return this.#seeSamples(happening, at);
      case 'runDeleted':
        this.subjects.forget({ of: 'run', id: happening.id });
        return [];
      case 'tick':
        return this.subjects.tick(at);
    }
  }

  #seeJob({ job, previousAttempt }: Happening & { kind: 'job' }, at: number): ToldOf[] {
    this.attempts.changed(job);
    if (previousAttempt !== null && previousAttempt !== job.attempt)
      this.subjects.setOver(toAttempt({ job_id: job.id, attempt: previousAttempt }), true);
    const key = toAttempt(toKey(job));
    const input: DetectorInput = { kind: 'job', at, job };
    const isOver = isTerminal(job.status);
    const told =
      job.status === 'RUNNING' || isOver
        ? this.subjects.feed(key, input)
        : this.subjects.feedKnown(key, input);
    this.subjects.setOver(key, isOver);
    if (job.run_id === null) return told;
    return [...told, ...this.subjects.feedKnown({ of: 'run', id: job.run_id }, input)];
  }

  /** Figures of a host are about the host, and about the jobs that run there. */
  #seeSamples({ node_id, ts, columns }: Happening & { kind: 'samples' }, at: number): ToldOf[] {
    const attempts = this.attempts.runningOn(node_id).map(toAttempt);
    return ts.flatMap((_, place) => {
      const values = sampleAt(columns, place);
      const input: DetectorInput = { kind: 'node_metrics', at, node_id, values };
      return [{ of: 'node', id: node_id } as const, ...attempts].flatMap((key) =>
        this.subjects.feed(key, input),
      );
    });
  }
}

function sampleAt(columns: ReadonlyMap<string, ArrayLike<number>>, place: number): Record<string, number> {
  const entries = [...columns].map(([name, values]) => [name, values[place] ?? NaN] as const);
  return Object.fromEntries(entries.filter(([, value]) => !Number.isNaN(value)));
}

function toKey({ id, attempt }: WatchedJob): AttemptKey {
  return { job_id: id, attempt };
}

function toAttempt({ job_id, attempt }: AttemptKey): SubjectKey {
  return { of: 'attempt', id: `${job_id}/${attempt}` };
}
