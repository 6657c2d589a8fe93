import { medianOf } from '@svc/signals';

interface StepValue {
  readonly step: number;
  readonly value: number;
}

/** The level of the loss is the median of at most so many points. */
const NEWEST = 16;
const OLDER = 64;

/** The training loss by step, of however many points: the newest ones, and of the older ones as many as fit, at even distances. */
export class TrainingCourse {
  readonly #newest: StepValue[] = [];
  #older: StepValue[] = [];
  #stride = 1;
  #leftNewest = 0;

  add(point: StepValue): void {
    this.#newest.push(point);
    if (this.#newest.length <= NEWEST) return;
    const oldest = this.#newest.shift() as StepValue;
    if (this.#leftNewest % this.#stride === 0) this.#older.push(oldest);
    this.#leftNewest += 1;
    if (this.#older.length <= OLDER) return;
    this.#older = this.#older.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }

  /** The level at the end of the steps behind `after`, up to `upTo`; null: no point of them is known. */
  levelBetween(after: number, upTo: number): number | null {
    const values = this.#all()
      .filter(({ step }) => step > after && step <= upTo)
      .map(({ value }) => value);
    return values.length === 0 ? null : medianOf(Float64Array.from(values.slice(-NEWEST)));
  }

  /** The last value up to the step. */
  lastUpTo(step: number): number | null {
    return this.#all().findLast((point) => point.step <= step)?.value ?? null;
  }

  #all(): StepValue[] {
    return [...this.#older, ...this.#newest];
  }
}
