import type { MetricPoint } from '@svc/contract';
import type { Batch, SdkRecord } from './records.js';

const BATCH_POINTS = 10_000;
const MAX_RECORDS = 10_000;

/** The queue between the training and the sender. Bounded: when it is full the oldest go, and are counted in `dropped`. */
export class Outbox {
  dropped = 0;
  #points: MetricPoint[] = [];
  #records: SdkRecord[] = [];
  #last: SdkRecord | null = null;
  /** Taken, and not known to be dealt with. */
  #inFlight: Batch | null = null;

  constructor(private readonly capacityPoints: number) {}

  get isEmpty(): boolean {
    return this.#inFlight === null && !this.hasWaiting;
  }

  get hasWaiting(): boolean {
    return this.#points.length > 0 || this.#records.length > 0 || this.#last !== null;
  }

  /** There is something that need not wait for more of its kind. */
  get isWorthSending(): boolean {
    return this.#records.length > 0 || this.#points.length >= BATCH_POINTS;
  }

  addPoints(points: readonly MetricPoint[]): void {
    for (const point of points) this.#points.push(point);
    const excess = this.#points.length - this.capacityPoints;
    if (excess <= 0) return;
    this.#points.splice(0, excess);
    this.dropped += excess;
  }

  addRecord(record: SdkRecord): void {
    this.#records.push(record);
    if (this.#records.length <= MAX_RECORDS) return;
    this.#records.shift();
    this.dropped += 1;
  }

  /** Goes behind all the rest. */
  addLast(record: SdkRecord): void {
    this.#last = record;
  }

  take(): Batch | null {
    return (this.#inFlight = this.#next());
  }

  done(): void {
    this.#inFlight = null;
  }

  /** What has not been dealt with, points first: they are the most, and there may be little time to write it down. */
  takeAll(): Batch[] {
    const batches: Batch[] = this.#inFlight === null ? [] : [this.#inFlight];
    this.#inFlight = null;
    for (let batch = this.#next(); batch !== null; batch = this.#next()) batches.push(batch);
    return [...batches.filter(Array.isArray), ...batches.filter((batch) => !Array.isArray(batch))];
  }

  #next(): Batch | null {
    const record = this.#records.shift();
    if (record !== undefined) return record;
    if (this.#points.length > 0) return this.#points.splice(0, BATCH_POINTS);
    const last = this.#last;
    this.#last = null;
    return last;
  }
}
