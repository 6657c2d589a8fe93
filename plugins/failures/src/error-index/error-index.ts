import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { LineBatch, Logs } from '@svc/plugin-logs';
import { KeptLines, NO_LINES } from './kept-lines.js';
import { loadKeptLines, saveKeptLines } from './store.js';

interface Entry {
  readonly key: AttemptKey;
  readonly kept: KeptLines;
  savedSeq: number;
  isOver: boolean;
}

const SAVE_EVERY_MS = 5_000;
/** While an attempt runs, it is saved after so many lines: after a crash of the server no more have to be read again. */
const SAVE_AFTER_LINES = 20_000;
/** Each takes at most 0.5 MiB. */
const MAX_ENTRIES = 200;

/** The lines that explain the end of each attempt, kept as they arrive. */
export class ErrorIndex {
  /** Least recently used first. Each work on an entry waits for the one before it. */
  readonly #entries = new Map<string, Promise<Entry>>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'log' | 'clock'>,
    private readonly logs: Logs,
  ) {}

  /** Saves from time to time; returns what ends that and saves the rest. */
  start(): () => Promise<void> {
    const timer = this.ctx.clock.setInterval(() => void this.#save(isDue), SAVE_EVERY_MS);
    return async () => {
      timer.clear();
      await this.#save(isUnsaved);
    };
  }

  /** Lines that have arrived. What went before them unseen is read from the log. */
  add({ lines, ...key }: LineBatch): void {
    this.#work(key, async (entry) => {
      const from = lines[0]?.seq ?? 0;
      if (from > entry.kept.toSeq) await this.#catchUp(entry);
      else entry.kept.add(lines);
    }).catch((err: unknown) => this.ctx.log.warn({ err, ...key }, 'error lines of a log were not kept'));
  }

  /** The attempts of the job that are in memory are saved soon. */
  attemptOver(key: AttemptKey): void {
    if (this.#entries.has(toText(key)))
      this.#work(key, (entry) => void (entry.isOver = true)).catch(() => undefined);
  }

  /** Up to the present end of the log. */
  async read(key: AttemptKey): Promise<KeptLines> {
    const { kept } = await this.#work(key, async (entry) => {
      if ((await this.logs.nextSeq(key)) > entry.kept.toSeq) await this.#catchUp(entry);
    });
    return kept;
  }

  /** Saved soon, so that the same lines are not read again after the next start. */
  async #catchUp(entry: Entry): Promise<void> {
    const { key, kept } = entry;
    await this.logs.readFrom(key, kept.toSeq, (lines) => kept.add(lines));
    entry.savedSeq = -Infinity;
  }

  #work(key: AttemptKey, work: (entry: Entry) => void | Promise<void>): Promise<Entry> {
    const name = toText(key);
    const before = this.#entries.get(name) ?? this.#load(key);
    const done = before.then(async (entry) => {
      await work(entry);
      return entry;
    });
    this.#entries.delete(name);
    this.#entries.set(name, done);
    done.catch(() => {
      if (this.#entries.get(name) === done) this.#entries.delete(name);
    });
    return done;
  }

  async #load(key: AttemptKey): Promise<Entry> {
    const record = (await loadKeptLines(this.ctx.db, key)) ?? NO_LINES;
    return { key, kept: new KeptLines(record), savedSeq: record.to_seq, isOver: false };
  }

  /** Saves what `isWanted`, and forgets the entries that were not used for longest. */
  async #save(isWanted: (entry: Entry) => boolean): Promise<void> {
    for (const [name, settled] of [...this.#entries]) {
      const entry = await settled.catch(() => null);
      if (entry === null) continue;
      const surplus = this.#entries.size > MAX_ENTRIES;
      if (isWanted(entry) || (surplus && isUnsaved(entry))) await this.#saveOne(entry);
      if (surplus && !isUnsaved(entry) && this.#entries.get(name) === settled) this.#entries.delete(name);
    }
  }

  /** What cannot be saved, as its job was removed, is forgotten; the log still has it, while there is one. */
  async #saveOne(entry: Entry): Promise<void> {
    const { record } = entry.kept;
    try {
      await saveKeptLines(this.ctx.db, entry.key, record);
      entry.savedSeq = record.to_seq;
    } catch (err) {
      this.#entries.delete(toText(entry.key));
      this.ctx.log.warn({ err, ...entry.key }, 'error lines of a log were not stored');
    }
  }
}

function isUnsaved({ kept, savedSeq }: Entry): boolean {
  return kept.toSeq !== savedSeq;
}

function isDue(entry: Entry): boolean {
  return isUnsaved(entry) && (entry.isOver || entry.kept.toSeq - entry.savedSeq >= SAVE_AFTER_LINES);
}

function toText({ job_id, attempt }: AttemptKey): string {
  return `${job_id}/${attempt}`;
}
