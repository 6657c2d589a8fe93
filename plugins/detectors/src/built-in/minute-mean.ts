const MINUTE_MS = 60_000;

/** Means over whole minutes of a figure that is measured every few seconds. */
export class MinuteMean {
  #minute: number | null = null;
  #sum = 0;
  #count = 0;

  /** Returns the mean of the minute that ended with this value; null while it lasts. */
  add(at: number, value: number): number | null {
    const minute = Math.floor(at / MINUTE_MS);
    const ended = this.#minute !== null && minute !== this.#minute ? this.#sum / this.#count : null;
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#sum = this.#count = 0;
    }
    this.#sum += value;
    this.#count += 1;
    return ended;
  }
}
