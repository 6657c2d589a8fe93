import type { MetricPoint } from '@svc/contract';
import type { ConfiguredDetector } from './settings.js';

/** Which detectors want a metric is asked once for each name; when so many are known, they are asked again. */
const MAX_NAMES = 50_000;
const NOBODY: readonly number[] = [];

/** Gives each detector of runs the points that it wants. A point that nobody wants costs one look-up. */
export class MetricSelection {
  readonly #wantedBy = new Map<string, readonly number[]>();
  readonly #takers: readonly number[];

  constructor(private readonly detectors: readonly ConfiguredDetector[]) {
    const places = detectors.map((_, place) => place);
    this.#takers = places.filter((place) => detectors[place]?.takes.has('metric'));
  }

  /** The points for each detector, in the order of the detectors. */
  split(points: readonly MetricPoint[]): readonly (readonly MetricPoint[])[] {
    const picked: MetricPoint[][] = this.detectors.map(() => []);
    for (const point of points) for (const place of this.#placesOf(point.name)) picked[place]?.push(point);
    const takesAll = (place: number) => this.#takers.includes(place) && !this.#filterOf(place);
    return picked.map((some, place) => (takesAll(place) ? points : some));
  }

  /** The detectors that choose this metric, by place. */
  #placesOf(name: string): readonly number[] {
    const known = this.#wantedBy.get(name);
    if (known) return known;
    if (this.#wantedBy.size >= MAX_NAMES) this.#wantedBy.clear();
    const places = this.#takers.filter((place) => this.#filterOf(place)?.(name) ?? false);
    this.#wantedBy.set(name, places.length === 0 ? NOBODY : places);
    return places;
  }

  #filterOf(place: number): ((name: string) => boolean) | undefined {
    const detector = this.detectors[place]?.detector;
    return detector?.wantsMetric?.bind(detector);
  }
}
