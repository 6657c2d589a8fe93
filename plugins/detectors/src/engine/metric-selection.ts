import type { MetricPoint } from '@svc/contract';
import type { ConfiguredDetector } from './settings.js';

/** Which detectors want a metric is asked once for each name; when so many are known, they are asked again. */
const MAX_NAMES = 50_000;
const NOBODY: readonly number[] = [];
const NO_POINTS: readonly MetricPoint[] = [];

/** Gives each detector of runs the points that it wants. A point that nobody wants costs one look-up. */
export class MetricSelection {
  readonly #wantedBy = new Map<string, readonly number[]>();
  /** By the place of a detector: how it chooses metrics, `all`, or `none` when it takes no points. */
  readonly #choices: readonly (((name: string) => boolean) | 'all' | 'none')[];

  constructor(detectors: readonly ConfiguredDetector[]) {
    this.#choices = detectors.map(({ detector, takes }) => {
      if (!takes.has('metric')) return 'none';
      return detector.wantsMetric?.bind(detector) ?? 'all';
    });
  }

  /** The points for each detector, in the order of the detectors. */
  split(points: readonly MetricPoint[]): readonly (readonly MetricPoint[])[] {
    const picked: (MetricPoint[] | undefined)[] = [];
    for (const point of points)
      for (const place of this.#placesOf(point.name)) (picked[place] ??= []).push(point);
    return this.#choices.map((choice, place) => (choice === 'all' ? points : (picked[place] ?? NO_POINTS)));
  }

  /** The detectors that choose this metric, by place. */
  #placesOf(name: string): readonly number[] {
    const known = this.#wantedBy.get(name);
    if (known) return known;
    if (this.#wantedBy.size >= MAX_NAMES) this.#wantedBy.clear();
    const places = [...this.#choices.keys()].filter((place) => {
      const choice = this.#choices[place];
      return typeof choice === 'function' && choice(name);
    });
    this.#wantedBy.set(name, places.length === 0 ? NOBODY : places);
    return places;
  }
}
