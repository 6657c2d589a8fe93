import type { Client } from '@svc/client';
import { routes, type MetricPoint, type Run } from '@svc/contract';
import type { CheckpointBody, FoundRun, RunFacts } from '../reading/found-run.js';
import { newTallies, type Destination, type RunWriter } from './destination.js';
import { toImportKey } from './run-body.js';

const MAX_LISTED = 1000;

/** Counts what would be written, and writes nothing. */
export class DryRun implements Destination {
  constructor(private readonly client: Client) {}

  async open(found: FoundRun, facts: RunFacts): Promise<RunWriter> {
    const import_key = toImportKey(found, facts);
    const { items } = await this.client.call(routes.listRuns, { query: { import_key, limit: 1 } });
    const run = items[0];
    return new CountedRun(run ?? null, run === undefined ? NOTHING : await this.#stored(run));
  }

  async #stored({ id: run_id }: Run): Promise<Stored> {
    const params = { run_id };
    const { metrics } = await this.client.call(routes.getRunSummary, { params });
    const { items } = await this.client.call(routes.listRunCheckpoints, {
      params,
      query: { limit: MAX_LISTED },
    });
    return {
      points: Object.values(metrics).reduce((sum, { count }) => sum + count, 0),
      checkpoints: new Set(items.map(toPlace)),
    };
  }
}

interface Stored {
  readonly points: number;
  readonly checkpoints: ReadonlySet<string>;
}

const NOTHING: Stored = { points: 0, checkpoints: new Set() };
const toPlace = ({ path, step }: { path: string; step?: number | null }): string => `${step ?? ''} ${path}`;

/** A source only grows, so as many of its points as the server has are the ones that it has. */
class CountedRun implements RunWriter {
  readonly tallies = newTallies();
  readonly id: string | null;
  readonly isNew: boolean;

  constructor(
    run: Run | null,
    private readonly stored: Stored,
  ) {
    this.id = run?.id ?? null;
    this.isNew = run === null;
  }

  points(points: readonly MetricPoint[]): Promise<void> {
    const { points: tally } = this.tallies;
    const known = Math.min(points.length, this.stored.points - tally.known);
    tally.known += known;
    tally.added += points.length - known;
    return Promise.resolve();
  }

  checkpoint(body: CheckpointBody): Promise<void> {
    this.tallies.checkpoints[this.stored.checkpoints.has(toPlace(body)) ? 'known' : 'added'] += 1;
    return Promise.resolve();
  }

  event(): Promise<void> {
    this.tallies.events[this.isNew ? 'added' : 'known'] += 1;
    return Promise.resolve();
  }

  metric(): Promise<void> {
    return Promise.resolve();
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}
