import type { DetectorInput, DetectorSubject } from '@svc/contract';
import { MetricSelection } from './metric-selection.js';
import type { DetectorsBySubject } from './settings.js';
import { SubjectWatch, type Told } from './subject-watch.js';

/** What a memory is about. `id`: of a run or a node, or `<job id>/<attempt>`. */
export interface SubjectKey {
  readonly of: DetectorSubject;
  readonly id: string;
}

export interface ToldOf extends Told {
  readonly subject: SubjectKey;
}

interface Entry {
  readonly key: SubjectKey;
  readonly watch: SubjectWatch;
  usedAt: number;
  isOver: boolean;
}

/** Memories are kept for so many subjects; those that were not used for longest are given up. */
const MAX_SUBJECTS = 2_000;
/** Of all subjects together. A metric takes about 3 KB. */
const MAX_METRICS = 50_000;
/** The last lines and points may come after the end. */
const LINGER_MS = 2 * 60_000;
const IDLE_MS = 24 * 3_600_000;

/** The memories of all subjects, least recently used first. */
export class Subjects {
  readonly #entries = new Map<string, Entry>();
  #metrics = 0;
  readonly #selections: Readonly<Record<DetectorSubject, MetricSelection>>;

  constructor(
    private readonly detectors: DetectorsBySubject,
    private readonly report: (detector: string, error: unknown) => void,
  ) {
    this.#selections = {
      run: new MetricSelection(detectors.run),
      attempt: new MetricSelection(detectors.attempt),
      node: new MetricSelection(detectors.node),
    };
  }

  /** Whether any detector is about them. */
  areWatched(of: DetectorSubject): boolean {
    return this.detectors[of].length > 0;
  }

  has(key: SubjectKey): boolean {
    return this.#entries.has(toText(key));
  }

  /** A subject that is new gets an empty memory. */
  feed(key: SubjectKey, input: DetectorInput): ToldOf[] {
    if (!this.areWatched(key.of)) return [];
    return this.#feed(this.#use(key, input.at), input);
  }

  /** What happens to a subject that may be of no interest any more. */
  feedKnown(key: SubjectKey, input: DetectorInput): ToldOf[] {
    return this.#entries.has(toText(key)) ? this.feed(key, input) : [];
  }

  /** A subject that has ended is forgotten soon; one that goes on after all is kept. */
  setOver(key: SubjectKey, isOver: boolean): void {
    const entry = this.#entries.get(toText(key));
    if (entry) entry.isOver = isOver;
  }

  forget(key: SubjectKey): void {
    this.#drop(toText(key));
  }

  tick(at: number): ToldOf[] {
    for (const [text, { isOver, usedAt }] of this.#entries)
      if (at - usedAt > (isOver ? LINGER_MS : IDLE_MS)) this.#drop(text);
    return [...this.#entries.values()].flatMap((entry) => this.#feed(entry, { kind: 'tick', at }));
  }

  #feed({ key, watch }: Entry, input: DetectorInput): ToldOf[] {
    this.#metrics -= watch.metrics;
    const told = watch.feed(input);
    this.#metrics += watch.metrics;
    while (this.#metrics > MAX_METRICS && this.#entries.size > 1) this.#dropOldest();
    return told.length === 0 ? [] : told.map((one) => ({ ...one, subject: key }));
  }

  #use(key: SubjectKey, at: number): Entry {
    const text = toText(key);
    const entry = this.#entries.get(text) ?? this.#create(key, at);
    entry.usedAt = at;
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry;
  }

  #dropOldest(): void {
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#drop(oldest);
  }

  #drop(text: string): void {
    this.#metrics -= this.#entries.get(text)?.watch.metrics ?? 0;
    this.#entries.delete(text);
  }

  #create(key: SubjectKey, at: number): Entry {
    if (this.#entries.size >= MAX_SUBJECTS) this.#dropOldest();
    const watch = new SubjectWatch(this.detectors[key.of], this.#selections[key.of], this.report);
    return { key, watch, usedAt: at, isOver: false };
  }
}

function toText({ of, id }: SubjectKey): string {
  return `${of} ${id}`;
}
