import type { MetricPoint } from '@svc/contract';
import type { Finding, FoundRun, RunFacts, SourcePoint } from './reading/found-run.js';
import { Skips } from './reading/skips.js';
import { checkPoint } from './writing/check-point.js';
import type { Destination, RunWriter } from './writing/destination.js';

const BATCH_POINTS = 10_000;
/** Of the JSON of a batch, below the 16 MiB that the server takes. */
const BATCH_BYTES = 12 * 1024 * 1024;
/** Of a point without its name, and of a character of that: `\u0000`. */
const [POINT_BYTES, CHARACTER_BYTES] = [150, 6];
/** Of one run, as the server has it. */
const MAX_METRICS = 10_000;

/** Copies one training. At most one batch of points is in memory. */
export class RunCopy {
  readonly skips = new Skips();
  /** null until there is something to write. */
  writer: RunWriter | null = null;
  readCount = 0;
  #facts: RunFacts | null = null;
  #batch: MetricPoint[] = [];
  #batchBytes = 0;
  readonly #names = new Set<string>();
  #lastTs: number | undefined;

  constructor(
    readonly found: FoundRun,
    private readonly destination: Destination,
  ) {}

  get name(): string | null {
    return this.#facts?.name ?? null;
  }

  /** `onBatch` is called after each batch. What was read before an error is written, and the run ends; then the error is thrown. */
  async run(onBatch: () => void): Promise<void> {
    let failure: { error: unknown } | null = null;
    const findings = this.found.read(this.skips)[Symbol.asyncIterator]();
    for (;;) {
      const next = await findings.next().catch((error: unknown) => void (failure = { error }));
      if (!next || next.done) break;
      try {
        await this.#take(next.value, onBatch);
      } catch (error) {
        await findings.return?.();
        throw error;
      }
    }
    await this.#end();
    onBatch();
    if (failure) throw (failure as { error: unknown }).error;
  }

  async #take(finding: Finding, onBatch: () => void): Promise<void> {
    if (finding.kind === 'facts') this.#facts = finding.facts;
    else if (finding.kind === 'points') {
      for (const point of finding.points) {
        this.#add(point);
        if (this.#batch.length < BATCH_POINTS && this.#batchBytes < BATCH_BYTES) continue;
        await this.#flush();
        onBatch();
      }
    } else {
      const writer = await this.#open();
      if (finding.kind === 'event') await writer.event(finding.key, finding.body);
      else if (finding.kind === 'metric') await writer.metric(finding.name, finding.body);
      else await writer.checkpoint(finding.body);
    }
  }

  #add(source: SourcePoint): void {
    this.readCount += 1;
    const point = checkPoint(source);
    const { name: metric, place } = source;
    if (typeof point === 'string') return this.skips.add(point, place, { metric });
    if (this.#names.size === MAX_METRICS && !this.#names.has(metric))
      return this.skips.add(`a metric beyond the ${MAX_METRICS} that a run may have`, place, { metric });
    this.#names.add(point.name);
    this.#batch.push(point);
    this.#batchBytes += POINT_BYTES + CHARACTER_BYTES * point.name.length;
    if (point.ts !== undefined) this.#lastTs = Math.max(this.#lastTs ?? 0, point.ts);
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const writer = await this.#open();
    [this.#batch, this.#batchBytes] = [[], 0];
    await writer.points(batch);
  }

  async #open(): Promise<RunWriter> {
    if (this.#facts === null) throw new Error(`${this.found.path}: a source must tell the facts first`);
    const firstTs = this.#batch[0]?.ts;
    this.writer ??= await this.destination.open(this.found, this.#facts, firstTs, this.skips);
    return this.writer;
  }

  async #end(): Promise<void> {
    await this.#flush();
    if (this.#facts?.mayBeEmpty) await this.#open();
    if (this.#facts !== null) await this.writer?.end(this.#facts, this.#lastTs);
  }
}
