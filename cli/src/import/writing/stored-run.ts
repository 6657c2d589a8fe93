import type { Client } from '@svc/client';
import { routes, type MetricPoint, type SeriesByName } from '@svc/contract';
import { readAll } from '../../tokens/read-all.js';
import type { CheckpointBody, EventBody } from '../reading/found-run.js';

/** As many series of at most 10 000 points as one answer may hold; most have as few in the steps of a batch as the batch. */
const NAMES_AT_ONCE = 100;
const MAX_POINTS = 10_000;

/** What the server has of a run, told by what it looks like: answers to readers hold no seq and no key. */
export class StoredRun {
  private constructor(
    private readonly client: Client,
    private readonly run_id: string,
    private readonly checkpoints: ReadonlySet<string>,
    private readonly events: Counts,
  ) {}

  static async read(client: Client, run_id: string): Promise<StoredRun> {
    const params = { run_id };
    const checkpoints = await readAll((query) => client.call(routes.listRunCheckpoints, { params, query }));
    const events = await readAll((query) =>
      client.call(routes.listEvents, { query: { ...query, run_id, type: 'CUSTOM' } }),
    );
    return new StoredRun(
      client,
      run_id,
      new Set(checkpoints.map(toPlace)),
      new Counts(events.map(toEventText)),
    );
  }

  hasCheckpoint(body: CheckpointBody): boolean {
    return this.checkpoints.has(toPlace(body));
  }

  /** Each event of the server answers for one alone. */
  takeEvent(body: EventBody): boolean {
    return this.events.take(toEventText(body));
  }

  /** How many of these points it has: those of one metric, step and value are the same. */
  async countOf(points: readonly MetricPoint[]): Promise<number> {
    const steps = points.map(({ step }) => step);
    const [from, to] = [steps.reduce((a, b) => Math.min(a, b)), steps.reduce((a, b) => Math.max(a, b))];
    const names = [...new Set(points.map(({ name }) => name))];
    const stored = new Counts([]);
    for (let first = 0; first < names.length; first += NAMES_AT_ONCE)
      for await (const series of this.#read(names.slice(first, first + NAMES_AT_ONCE), from, to))
        for (const [name, { steps: at, values }] of Object.entries(series))
          for (const [index, step] of at.entries())
            stored.add(toPointText({ name, step, value: values[index]! }));
    return points.filter((point) => stored.take(toPointText(point))).length;
  }

  /** In halves where the server would thin the points out. */
  async *#read(names: readonly string[], from: number, to: number): AsyncGenerator<SeriesByName, void> {
    const body = {
      run_ids: [this.run_id],
      names: [...names],
      step_from: from,
      step_to: to,
      limit: MAX_POINTS,
    };
    const answer = await this.client.call(routes.queryMetrics, { body });
    const series = answer.series[this.run_id] ?? {};
    if (from === to || !Object.values(series).some(({ downsampled }) => downsampled)) return yield series;
    const middle = Math.floor((from + to) / 2);
    yield* this.#read(names, from, middle);
    yield* this.#read(names, middle + 1, to);
  }
}

/** How often each text is there. */
class Counts {
  readonly #counts = new Map<string, number>();

  constructor(texts: readonly string[]) {
    for (const text of texts) this.add(text);
  }

  add(text: string): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
  }

  take(text: string): boolean {
    const left = this.#counts.get(text) ?? 0;
    if (left > 0) this.#counts.set(text, left - 1);
    return left > 0;
  }
}

const toPlace = ({ path, step }: { path: string; step?: number | null }): string => `${step ?? ''} ${path}`;
const toEventText = ({ title, message = '' }: Pick<EventBody, 'title' | 'message'>): string =>
  JSON.stringify([title, message]);
const toPointText = ({ name, step, value }: Pick<MetricPoint, 'name' | 'step' | 'value'>): string =>
  `${step} ${value} ${name}`;
