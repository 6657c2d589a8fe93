import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { toMetricSeries, type MetricSeries } from '../chart/series-store.js';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import { compareRuns, readSeriesOfRuns, type RunComparison } from '../data/comparison.js';

/** What the points and rankings depend on. */
export interface ComparisonQuestion {
  /** Canonical ids of the runs. */
  readonly runIds: readonly string[];
  readonly metrics: readonly string[];
  /** Those of the metrics that have a direction: the others have no best value. */
  readonly ranked: readonly string[];
  readonly range: readonly [number, number] | null;
}

/** One metric of all runs; what could not be loaded anew stays as it was, beside the error. */
export interface ComparedPoints {
  readonly seriesOf: ReadonlyMap<string, MetricSeries>;
  readonly ranking: RunComparison | null;
  /** Why there are no points. */
  readonly error: ApiError | null;
  /** Why the server does not rank the runs by this metric. */
  readonly refusal: ApiError | null;
}

/** Points of one chart: what its width can show, and fewer of each line where many lie over each other. */
const POINTS_OF_CHART = 12_000;
const LEAST_POINTS = 200;
const MOST_POINTS = 2000;

/** The points and the ranking of each metric of a comparison, each shown as soon as it is there. */
export class Comparison implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #points = new Map<string, ComparedPoints>();
  #question: ComparisonQuestion = { runIds: [], metrics: [], ranked: [], range: null };
  #key = '';
  #request = new AbortController();

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#request.abort();
    this.#key = '';
  }

  /** null until the first answer is there. */
  of(metric: string): ComparedPoints | null {
    return this.#points.get(metric) ?? null;
  }

  /** Loads what is not there yet: another metric alone when only that was added. */
  watch(question: ComparisonQuestion): void {
    const key = JSON.stringify(question);
    if (key === this.#key) return;
    const { runIds, range } = question;
    const isSame =
      JSON.stringify([runIds, range]) === JSON.stringify([this.#question.runIds, this.#question.range]);
    this.#key = key;
    this.#question = question;
    const missing = question.metrics.filter((metric) => !isSame || !this.#points.has(metric));
    if (!isSame) this.#renew();
    this.#loadAll(missing);
  }

  /** Loads everything again. */
  refresh(): void {
    this.#renew();
    this.#loadAll(this.#question.metrics);
  }

  #renew(): void {
    this.#request.abort();
    this.#request = new AbortController();
  }

  #loadAll(metrics: readonly string[]): void {
    if (this.#question.runIds.length === 0) return;
    const { signal } = this.#request;
    for (const metric of metrics) void this.#load(metric, signal);
  }

  async #load(metric: string, signal: AbortSignal): Promise<void> {
    const before = this.#points.get(metric);
    const [series, ranking] = await Promise.allSettled([
      this.#readSeries(metric, signal),
      this.#readRanking(metric, signal),
    ]);
    if (signal.aborted) return;
    this.#points.set(metric, {
      seriesOf: series.status === 'fulfilled' ? series.value : (before?.seriesOf ?? new Map()),
      ranking: ranking.status === 'fulfilled' ? ranking.value : null,
      error: series.status === 'rejected' ? toError(series.reason) : null,
      refusal: ranking.status === 'rejected' ? toError(ranking.reason) : null,
    });
    this.#host.requestUpdate();
  }

  async #readSeries(metric: string, signal: AbortSignal): Promise<ReadonlyMap<string, MetricSeries>> {
    const { runIds, range } = this.#question;
    const share = Math.floor(POINTS_OF_CHART / runIds.length);
    const limit = Math.max(LEAST_POINTS, Math.min(MOST_POINTS, share));
    const answer = await readSeriesOfRuns(this.#api(), runIds, { metric, range, limit }, signal);
    return new Map(
      Object.entries(answer).flatMap(([id, { [metric]: series }]) =>
        series ? [[id, toMetricSeries(series)] as const] : [],
      ),
    );
  }

  /** There is nothing to rank with one run alone, or without a direction. */
  async #readRanking(metric: string, signal: AbortSignal): Promise<RunComparison | null> {
    const { runIds, ranked } = this.#question;
    return runIds.length < 2 || !ranked.includes(metric)
      ? null
      : compareRuns(this.#api(), runIds, metric, signal);
  }
}

function toError(reason: unknown): ApiError | null {
  return isAbort(reason) ? null : toApiError(reason);
}
