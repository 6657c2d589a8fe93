import type { DetectorInput, Finding, MetricPoint } from '@svc/contract';
import { toContent, type Content } from './content.js';
import type { MetricSelection } from './metric-selection.js';
import type { ConfiguredDetector } from './settings.js';
import { TooManyTroubles, Troubles } from './troubles.js';

/** A finding that has become an event. */
export interface Told {
  readonly detector: string;
  readonly cooldownMs: number | null;
  readonly at: number;
  readonly finding: Content;
}

/** A detector that remembers metrics keeps no more of them for a subject. */
const MAX_METRICS = 100;

interface Watch extends ConfiguredDetector {
  memory: unknown;
  readonly troubles: Troubles;
}

/** All detectors of one subject, with their memories. */
export class SubjectWatch {
  readonly #watches: readonly Watch[];
  readonly #metrics = new Set<string>();

  /** `selection` is of the same detectors; `report` is told of a detector that throws, which then begins anew. */
  constructor(
    detectors: readonly ConfiguredDetector[],
    private readonly selection: MetricSelection,
    private readonly report: (detector: string, error: unknown) => void,
  ) {
    this.#watches = detectors.map((configured) => ({
      ...configured,
      memory: undefined,
      troubles: new Troubles(configured.timing),
    }));
  }

  /** Of how many metrics its memories may have points: by this they grow. */
  get metrics(): number {
    return this.#metrics.size;
  }

  /** What is to be told now. */
  feed(input: DetectorInput): Told[] {
    const picked = input.kind === 'metric' ? this.selection.split(input.points) : [];
    return this.#watches.flatMap((watch, place) => {
      if (input.kind === 'metric') {
        const points = picked[place] ?? [];
        if (watch.detector.wantsMetric) this.#noteMetrics(points);
        return points.length > 0 ? this.#step(watch, { ...input, points }) : [];
      }
      if (watch.takes.has(input.kind)) return this.#step(watch, input);
      return input.kind === 'tick' ? this.#tell(watch, input.at, watch.troubles.due(input.at)) : [];
    });
  }

  #noteMetrics(points: readonly MetricPoint[]): void {
    for (const { name } of points) if (this.#metrics.size < MAX_METRICS) this.#metrics.add(name);
  }

  #step(watch: Watch, input: DetectorInput): Told[] {
    const { detector, options, troubles } = watch;
    try {
      const {
        memory,
        findings,
        over = [],
      } = detector.step(watch.memory ?? detector.init(options as never), input);
      watch.memory = memory;
      const due = troubles.take(input.at, findings, over);
      if (troubles.takeLost()) this.report(detector.name, new TooManyTroubles());
      return this.#tell(watch, input.at, due);
    } catch (error) {
      watch.memory = undefined;
      this.report(detector.name, error);
      return [];
    }
  }

  #tell({ detector, timing }: Watch, at: number, findings: readonly Finding[]): Told[] {
    const told = { detector: detector.name, cooldownMs: timing.cooldownMs, at };
    return findings.flatMap((finding) => {
      try {
        return [{ ...told, finding: toContent(finding) }];
      } catch (error) {
        this.report(detector.name, error);
        return [];
      }
    });
  }
}
