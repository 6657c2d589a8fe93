import { ApiError, type Client } from '@svc/client';
import { routes, type MetricPoint, type Run } from '@svc/contract';
import type { CheckpointBody, EventBody, FoundRun, RunFacts } from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';
import { newTallies, type Destination, type RunWriter } from './destination.js';
import { toDocuments, toImportKey, toNewRun } from './run-body.js';
import { StoredRun } from './stored-run.js';

/** Counts what would be written, and writes nothing. */
export class DryRun implements Destination {
  constructor(private readonly client: Client) {}

  async open(
    found: FoundRun,
    facts: RunFacts,
    firstTs: number | undefined,
    skips: Skips,
  ): Promise<RunWriter> {
    const begun = facts.begun === undefined ? null : await this.#find(facts.begun);
    if (begun === null) toNewRun(found, facts, {}, firstTs, skips);
    const run = begun ?? (await this.#findImported(toImportKey(found, facts)));
    const stored = run && (await StoredRun.read(this.client, run.id));
    return new CountedRun(found, run, stored, skips);
  }

  async #find(run_id: string): Promise<Run | null> {
    try {
      return await this.client.call(routes.getRun, { params: { run_id } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
      return null;
    }
  }

  async #findImported(import_key: string): Promise<Run | null> {
    const { items } = await this.client.call(routes.listRuns, { query: { import_key, limit: 1 } });
    return items[0] ?? null;
  }
}

class CountedRun implements RunWriter {
  readonly tallies = newTallies();
  readonly id: string | null;
  readonly isNew: boolean;

  constructor(
    private readonly found: FoundRun,
    run: Run | null,
    private readonly stored: StoredRun | null,
    private readonly skips: Skips,
  ) {
    this.id = run?.id ?? null;
    this.isNew = run === null;
  }

  async points(points: readonly MetricPoint[]): Promise<void> {
    const known = (await this.stored?.countOf(points)) ?? 0;
    this.tallies.points.known += known;
    this.tallies.points.added += points.length - known;
  }

  checkpoint(body: CheckpointBody): Promise<void> {
    this.tallies.checkpoints[this.stored?.hasCheckpoint(body) ? 'known' : 'added'] += 1;
    return Promise.resolve();
  }

  event(_key: string, body: EventBody): Promise<void> {
    this.tallies.events[this.stored?.takeEvent(body) ? 'known' : 'added'] += 1;
    return Promise.resolve();
  }

  metric(): Promise<void> {
    return Promise.resolve();
  }

  end(facts: RunFacts): Promise<void> {
    toDocuments(this.found, facts, this.skips);
    return Promise.resolve();
  }
}
