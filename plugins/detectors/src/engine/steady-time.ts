import type { Clock } from '@svc/kernel';

/** A longer step means that the server stood still or that its clock was set: no time has passed for those who are watched. */
const LONGEST_STEP_MS = 60_000;

/** Time that never goes back and never jumps. Must hold: it is read every few seconds. */
export class SteadyTime {
  #wall: number;
  #steady: number;

  constructor(private readonly clock: Clock) {
    this.#wall = this.#steady = clock.now();
  }

  now(): number {
    const wall = this.clock.now();
    const passed = wall - this.#wall;
    this.#wall = wall;
    if (passed > 0 && passed <= LONGEST_STEP_MS) this.#steady += passed;
    return this.#steady;
  }
}
