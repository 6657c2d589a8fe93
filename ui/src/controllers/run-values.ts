import type { Run } from '@svc/contract';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import { MAX_RUNS, readMetricValues, type MetricValues, type ValuesOfRuns } from '../data/metric-values.js';

/** What was read of a run, and how far the run was then. */
interface Known {
  readonly mark: string;
  readonly names: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, MetricValues>;
}

const RETRY_MS = 5000;

/** Values of metrics for the runs in sight of a table, a hundred at a time. What has been read is kept until the run has gone on. */
export class RunValues implements ReactiveController {
  error: ApiError | null = null;
  readonly #known = new Map<string, Known>();
  #names: readonly string[] = [];
  #inSight: readonly Run[] = [];
  #work: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;

  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#retry);
    this.#work?.abort();
    this.#work = null;
  }

  get(runId: string, name: string): MetricValues | null {
    return this.#known.get(runId)?.values.get(name) ?? null;
  }

  /** Of which runs and metrics the values are shown. */
  want(names: readonly string[], inSight: readonly Run[]): void {
    this.#names = names;
    this.#inSight = inSight;
    if (this.#work === null && this.error === null) void this.#read();
  }

  async #read(): Promise<void> {
    const work = (this.#work = new AbortController());
    try {
      for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
        const names = this.#names;
        const values = await this.#readBatch(batch, names, work.signal);
        if (work.signal.aborted) return;
        this.#keep(batch, names, values);
      }
      this.error = null;
    } catch (error) {
      if (work.signal.aborted || isAbort(error)) return;
      this.#onError(toApiError(error));
    }
    this.#work = null;
  }

  /** A run that is gone by now makes the server refuse the whole batch: then the halves are asked for. */
  async #readBatch(
    runs: readonly Run[],
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<ValuesOfRuns> {
    try {
      return await readMetricValues(
        this.#api(),
        runs.map(({ id }) => id),
        names,
        signal,
      );
    } catch (error) {
      if (toApiError(error).status !== 404) throw error;
      if (runs.length === 1) return new Map();
      const half = Math.ceil(runs.length / 2);
      const first = await this.#readBatch(runs.slice(0, half), names, signal);
      return new Map([...first, ...(await this.#readBatch(runs.slice(half), names, signal))]);
    }
  }

  #keep(runs: readonly Run[], names: readonly string[], values: ValuesOfRuns): void {
    for (const run of runs) {
      const mark = markOf(run);
      const before = this.#known.get(run.id);
      const kept = before?.mark === mark ? before : null;
      this.#known.set(run.id, {
        mark,
        names: new Set([...(kept?.names ?? []), ...names]),
        values: new Map([...(kept?.values ?? []), ...(values.get(run.id) ?? [])]),
      });
    }
    this.#host.requestUpdate();
  }

  #nextBatch(): Run[] {
    if (this.#names.length === 0) return [];
    return this.#inSight.filter((run) => this.#isMissing(run)).slice(0, MAX_RUNS);
  }

  #isMissing(run: Run): boolean {
    const known = this.#known.get(run.id);
    return known?.mark !== markOf(run) || !this.#names.every((name) => known.names.has(name));
  }

  #onError(error: ApiError): void {
    this.error = error;
    this.#retry = setTimeout(() => {
      this.error = null;
      this.#host.requestUpdate();
    }, RETRY_MS);
    this.#host.requestUpdate();
  }
}

/** Another one once the run has logged more, or has ended. */
function markOf({ status, step }: Run): string {
  return `${status} ${step}`;
}
