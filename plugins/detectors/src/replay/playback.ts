import { fail, yieldIfSliceOver } from '@svc/kernel';
import type { DetectorsBySubject } from '../engine/settings.js';
import { Subjects, type ToldOf } from '../engine/subjects.js';
import { TooManyTroubles } from '../engine/troubles.js';
import type { Dated } from './merge.js';
import type { Scene } from './scenes.js';

const TICK_MS = 5_000;
/** A long history gets fewer ticks. */
const MAX_TICKS = 100_000;
const MAX_FINDINGS = 1_000;

/** Thrown when the playback is to end before the end of the history. */
export class Enough extends Error {}

/** Shows detectors what happened, with ticks in between. */
export class Playback {
  readonly told: ToldOf[] = [];
  readonly #subjects: Subjects;
  readonly #everyMs: number;
  #now = -Infinity;
  #tickedAt: number;

  /** `to`: what has a later time counts as of that time, as the training gives the times of its points. */
  constructor(
    detectors: DetectorsBySubject,
    from: number,
    private readonly to: number,
    private readonly isOver: () => boolean,
  ) {
    this.#tickedAt = from;
    this.#everyMs = Math.max(TICK_MS, (to - from) / MAX_TICKS);
    this.#subjects = new Subjects(detectors, (detector, error) => {
      if (error instanceof TooManyTroubles) return;
      const why = error instanceof Error ? error.message : String(error);
      fail('validation_error', `the detector "${detector}" fails on the history of this run: ${why}`);
    });
  }

  async play({ at, what: { keys, input } }: Dated<Scene>): Promise<void> {
    await this.passUntil(at);
    for (const key of keys) this.told.push(...this.#subjects.feed(key, { ...input, at: this.#now }));
    await this.#pause();
  }

  /** Time that has passed does not come back. */
  async passUntil(at: number): Promise<void> {
    this.#now = Math.max(this.#now, Math.min(at, this.to));
    while (this.#tickedAt + this.#everyMs <= this.#now) {
      this.#tickedAt += this.#everyMs;
      this.told.push(...this.#subjects.tick(this.#tickedAt));
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    if (this.told.length >= MAX_FINDINGS || this.isOver()) throw new Enough();
    await yieldIfSliceOver();
  }
}
