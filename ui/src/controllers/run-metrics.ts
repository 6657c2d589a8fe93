import type { MetricSummary, routes } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { epochsOf, type Progress } from '../chart/epochs.js';
import {
  emptySeries,
  lowerBound,
  mergePoints,
  toMetricSeries,
  toPoints,
  type MetricSeries,
  type Point,
} from '../chart/series-store.js';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import { readSeries, streamPoints } from '../data/runs.js';
import type { SseEvent, StreamState } from '../data/live-stream.js';

type Range = readonly [number, number];

const EMPTY: MetricSeries = emptySeries();

/** Points per metric of a whole run, and of a range looked at more closely. */
const OVERVIEW_LIMIT = 2000;
const RANGE_LIMIT = 5000;
const REPAIR_LIMIT = 10_000;
/** A series that has grown past this is read again thinned by the server, which keeps every extreme: a page that stays open does not grow. */
export const REBASE_AT = 8000;

/**
 * The points of some metrics of a run: first what there is, then live. `check` compares with the server's count and
 * reads again what a dropped message would have left out.
 */
export class RunMetrics implements ReactiveController {
  /** Rises with every change, at most once per animation frame. */
  revision = 0;
  error: ApiError | null = null;
  streamState: StreamState | null = null;
  range: Range | null = null;
  #names: readonly string[] = [];
  #isLive = false;
  readonly #whole = new Map<string, MetricSeries>();
  #ranged: Map<string, MetricSeries> | null = null;
  /** Per metric, the step up to which the count is known to be right: where repair begins. */
  readonly #watermarks = new Map<string, number>();
  readonly #loading = new Set<string>();
  #epochAt: ((step: number) => number) | null = null;
  #progress: Progress = { step: null, epoch: null };
  #work = new AbortController();
  #closeStream: (() => void) | null = null;
  #streamed = '';
  #frame = 0;
  #isChecking = false;

  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #runId: () => string;

  constructor(host: ReactiveControllerHost, api: () => Api, runId: () => string) {
    this.#host = host;
    this.#api = api;
    this.#runId = runId;
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#work.abort();
    this.#work = new AbortController();
    this.#endStream();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#whole.clear();
    this.#names = [];
  }

  /** Which metrics to hold; live ones are streamed. */
  watch(names: readonly string[], isLive: boolean): void {
    const fresh = names.filter((name) => !this.#whole.has(name));
    this.#names = names;
    this.#isLive = isLive;
    for (const name of fresh) this.#whole.set(name, emptySeries());
    if (fresh.length > 0) void this.#load(fresh);
    if (fresh.length > 0 && this.range !== null) void this.zoom(this.range);
    this.#updateStream();
  }

  series(name: string): MetricSeries {
    return this.#ranged?.get(name) ?? this.#whole.get(name) ?? EMPTY;
  }

  /** The newest value of the whole run that is known here: of the points, or of the summary where that is ahead. */
  latest(name: string, { latest }: Pick<MetricSummary, 'latest'>): number {
    const series = this.#whole.get(name);
    const step = series?.steps.at(-1);
    const isAhead =
      step !== undefined && (step > latest.step || (step === latest.step && series!.ts.at(-1)! >= latest.ts));
    return isAhead ? series!.values.at(-1)! : fromMetricValue(latest.value);
  }

  /** The epoch at a step; null while nothing tells it. */
  get epochAt(): ((step: number) => number) | null {
    return this.#epochAt;
  }

  /** The steps of the points that were made in that time; null without any. */
  stepsWithin(from: number, to: number): Range | null {
    return this.#stepsOf((_, ts) => ts >= from && ts <= to);
  }

  stepsOfEpochs(from: number, to: number): Range | null {
    const epochAt = this.#epochAt;
    return epochAt && this.#stepsOf((step) => epochAt(step) >= from && epochAt(step) <= to);
  }

  /** 0 without any point. */
  get lastStep(): number {
    return Math.max(0, ...[...this.#whole.values()].map(({ steps }) => steps.at(-1) ?? 0));
  }

  #stepsOf(isWanted: (step: number, ts: number) => boolean): Range | null {
    let [first, last] = [Infinity, -Infinity];
    for (const { steps, ts } of this.#whole.values()) {
      steps.forEach((step, at) => {
        if (!isWanted(step, ts[at]!)) return;
        first = Math.min(first, step);
        last = Math.max(last, step);
      });
    }
    return first > last ? null : [first, last];
  }

  /** When the points of these steps were made; null without any. */
  timesWithin(from: number, to: number): Range | null {
    let [first, last] = [Infinity, -Infinity];
    for (const { steps, ts } of this.#whole.values()) {
      for (let at = lowerBound(steps, from); at < steps.length && steps[at]! <= to; at += 1) {
        first = Math.min(first, ts[at]!);
        last = Math.max(last, ts[at]!);
      }
    }
    return first > last ? null : [first, last];
  }

  /** Looks at a range in full resolution; null is the whole run. */
  async zoom(range: Range | null): Promise<void> {
    this.range = range;
    this.#ranged = null;
    this.#changed();
    if (range === null) return;
    await this.#attempt(async (signal) => {
      const [from, to] = range;
      const answer = await this.#read(
        this.#names,
        { step_from: from, step_to: to, limit: RANGE_LIMIT },
        signal,
      );
      if (this.range === range) this.#ranged = answer;
    });
  }

  /** Repairs what the stream lost: metrics of which the server counts more points than are here. */
  async check(summaries: Readonly<Record<string, MetricSummary>>, progress?: Progress): Promise<void> {
    if (progress) this.#follow(progress);
    if (this.#isChecking) return;
    this.#isChecking = true;
    const lacking = this.#names.filter((name) => this.#isLacking(name, summaries[name]));
    for (const name of this.#names)
      if (!lacking.includes(name)) this.#watermarks.set(name, this.#lastStep(name));
    if (lacking.length > 0) await this.#attempt((signal) => this.#repair(lacking, summaries, signal));
    this.#thinLong();
    this.#isChecking = false;
  }

  #thinLong(): void {
    const isLong = (name: string): boolean =>
      this.#whole.get(name)!.steps.length > REBASE_AT && !this.#loading.has(name);
    const long = this.#names.filter(isLong);
    if (long.length > 0) void this.#load(long);
  }

  #follow(progress: Progress): void {
    if (progress.step === this.#progress.step && progress.epoch === this.#progress.epoch) return;
    this.#progress = { step: progress.step, epoch: progress.epoch };
    this.#epochAt = epochsOf(this.#whole, this.#progress);
  }

  #isLacking(name: string, summary: MetricSummary | undefined): boolean {
    if (summary === undefined || this.#loading.has(name)) return false;
    return summary.count > (this.#whole.get(name)?.total ?? 0);
  }

  #lastStep(name: string): number {
    return this.#whole.get(name)?.steps.at(-1) ?? Number.MIN_SAFE_INTEGER;
  }

  /** From the watermark first; what is still missing then came late with an older step: read the whole series. */
  async #repair(
    names: readonly string[],
    summaries: Readonly<Record<string, MetricSummary>>,
    signal: AbortSignal,
  ): Promise<void> {
    const from = Math.min(...names.map((name) => this.#watermarks.get(name) ?? Number.MIN_SAFE_INTEGER));
    const answer = await readSeries(
      this.#api(),
      this.#runId(),
      { names, step_from: from, limit: REPAIR_LIMIT },
      signal,
    );
    for (const [name, series] of Object.entries(answer)) {
      if (!series.downsampled) mergePoints(this.#whole.get(name)!, toPoints(series));
    }
    const left = names.filter((name) => this.#isLacking(name, summaries[name]));
    if (left.length > 0) await this.#load(left);
  }

  async #load(names: readonly string[]): Promise<void> {
    names.forEach((name) => this.#loading.add(name));
    await this.#attempt(async (signal) => {
      const answer = await this.#read(names, { limit: OVERVIEW_LIMIT }, signal);
      for (const [name, series] of answer) {
        this.#whole.set(name, series);
        this.#watermarks.set(name, this.#lastStep(name));
      }
      this.#epochAt = epochsOf(this.#whole, this.#progress);
    });
    names.forEach((name) => this.#loading.delete(name));
  }

  async #read(
    names: readonly string[],
    query: { step_from?: number; step_to?: number; limit: number },
    signal: AbortSignal,
  ): Promise<Map<string, MetricSeries>> {
    const answer = await readSeries(this.#api(), this.#runId(), { names, ...query }, signal);
    return new Map(Object.entries(answer).map(([name, series]) => [name, toMetricSeries(series)]));
  }

  async #attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#work;
    try {
      await work(signal);
      this.error = null;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.error = toApiError(error);
    }
    if (!signal.aborted) this.#changed();
  }

  #updateStream(): void {
    const wanted = this.#isLive && this.#names.length > 0 ? this.#names.join(',') : '';
    if (wanted === this.#streamed) return;
    this.#endStream();
    this.#streamed = wanted;
    if (wanted === '') return;
    this.#closeStream = streamPoints(this.#api(), this.#runId(), this.#names, {
      onEvents: (events) => this.#onEvents(events),
      onState: (state) => {
        this.streamState = state;
        this.#host.requestUpdate();
      },
    });
  }

  #endStream(): void {
    this.#closeStream?.();
    this.#closeStream = null;
    this.#streamed = '';
    this.streamState = null;
  }

  #onEvents(events: readonly SseEvent[]): void {
    const byName = new Map<string, Point[]>();
    for (const event of events) {
      for (const { name, step, value, ts } of (JSON.parse(event.data) as routes.PointsMessage).points) {
        const points = byName.get(name) ?? [];
        points.push({ step, value: fromMetricValue(value), ts });
        byName.set(name, points);
      }
    }
    for (const [name, points] of byName) {
      const series = this.#whole.get(name);
      if (series) mergePoints(series, points);
    }
    this.#thinLong();
    this.#changed();
  }

  #changed(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.revision += 1;
      this.#host.requestUpdate();
    });
  }
}
