import type { AttemptKey, LogStream, PartialFrame } from '@svc/contract';
import type { Nodes } from '@svc/plugin-nodes';
import type { AttemptLog } from './attempt-log.js';

/** Of all texts together, with `ENTRY_CHARACTERS` for what else an entry takes. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const ENTRY_CHARACTERS = 200;

export interface PartialText {
  readonly stream: LogStream;
  readonly text: string;
  readonly ts: number;
}

/** A connection of a node; null: it had none any more. */
interface Sender {
  readonly nodeId: string;
  readonly connection: number | null;
}

/** It lasts as long as the connection on which it came. */
interface Entry extends PartialText, Sender {
  readonly key: AttemptKey;
}

/**
 * The lines that have no end yet, at most one of each stream of an attempt: in memory alone, and lost without harm. When there are too many, those
 * that have not changed for longest go.
 */
export class PartialLines {
  /** By name; that which changed last is last. */
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  /** `wake` tells those who follow the log of that attempt. */
  constructor(
    private readonly nodes: Pick<Nodes, 'connectionOf'>,
    private readonly wake: (key: AttemptKey) => void,
  ) {}

  /** `key` in canonical form. */
  take(key: AttemptKey, { stream, text, ts }: PartialFrame, sender: Sender): void {
    this.#remove(toName(key, stream));
    if (text !== '') {
      this.#entries.set(toName(key, stream), { key, stream, text, ts, ...sender });
      this.#characters += weigh(text);
    }
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#remove(oldest);
    }
    this.wake(key);
  }

  /** The next lines of that stream are about to be stored: what follows the log sees them instead. */
  end(key: AttemptKey, stream: LogStream): void {
    this.#remove(toName(key, stream));
  }

  jobEnded(jobId: string): void {
    this.#drop(({ key }) => key.job_id === jobId);
  }

  /** Drops those of nodes that have another connection by now, or none. */
  nodeChanged(): void {
    this.#drop((entry) => !this.#isConnected(entry));
  }

  of({ jobId: job_id, attempt, state }: Pick<AttemptLog, 'jobId' | 'attempt' | 'state'>): PartialText[] {
    const streams = (['stdout', 'stderr'] as const).filter((stream) => !state.ended[stream]);
    return streams.flatMap((stream) => {
      const entry = this.#entries.get(toName({ job_id, attempt }, stream));
      return entry && this.#isConnected(entry) ? [{ stream, text: entry.text, ts: entry.ts }] : [];
    });
  }

  #isConnected({ nodeId, connection }: Sender): boolean {
    return connection !== null && this.nodes.connectionOf(nodeId) === connection;
  }

  #drop(isOver: (entry: Entry) => boolean): void {
    for (const [name, entry] of this.#entries) {
      if (!isOver(entry)) continue;
      this.#remove(name);
      this.wake(entry.key);
    }
  }

  #remove(name: string): void {
    this.#characters -= this.#entries.has(name) ? weigh(this.#entries.get(name)!.text) : 0;
    this.#entries.delete(name);
  }
}

function toName({ job_id, attempt }: AttemptKey, stream: LogStream): string {
  return `${job_id}/${attempt}/${stream}`;
}

function weigh(text: string): number {
  return text.length + ENTRY_CHARACTERS;
}
