import type { Clock } from '@svc/kernel';
import { isDeepStrictEqual } from 'node:util';

/** So many changes may come at once. */
const BURST = 4;
/** No more than `BURST` changes are made within this time. */
const PERIOD_MS = 2000;

/**
 * What an agent says of its host, each time as a whole. Must hold: what is as before costs nothing, and an agent whose word changes without
 * end costs two changes a second. Of what came meanwhile only the newest is made.
 */
export class LatestWord<Value> {
  #said: Value | null = null;
  #made: Value | null = null;
  /** The newest last. */
  #madeAt: number[] = [];

  constructor(private readonly clock: Clock) {}

  /** What is known without a change: the hello has said it. */
  begin(value: Value): void {
    this.#said ??= value;
    this.#made = value;
  }

  /** To be called when it is received, before its turn to be made. */
  hear(value: Value): void {
    this.#said = value;
  }

  /** Resolves when what has been heard before the call is made, or something newer. To be called one at a time. */
  async make(change: (value: Value) => Promise<void>): Promise<void> {
    if (isDeepStrictEqual(this.#said, this.#made)) return;
    await this.#untilDue();
    const value = this.#said;
    if (value === null || isDeepStrictEqual(value, this.#made)) return;
    this.#madeAt = [...this.#madeAt, this.clock.now()].slice(-BURST);
    await change(value);
    this.#made = value;
  }

  async #untilDue(): Promise<void> {
    const [first] = this.#madeAt;
    if (first === undefined || this.#madeAt.length < BURST) return;
    const waitMs = Math.min(PERIOD_MS, first + PERIOD_MS - this.clock.now());
    if (waitMs > 0) await new Promise<void>((resolve) => this.clock.setTimeout(resolve, waitMs));
  }
}
