import { readFileSync, statSync } from 'node:fs';
import { toId } from '@svc/contract';
import type { FileLock } from '@svc/kernel';
import { Failure } from '../failure.js';
import { note } from '../output/print.js';
import { writePrivateFile } from '../write-private-file.js';

const MOST_BYTES = 16 * 1024 * 1024;

interface Remembered {
  /** It and every event before it is handled. */
  readonly after: string;
  /** Later ones that are handled, while an earlier one is not. */
  readonly handled: readonly string[];
}

interface Store {
  readonly file: string;
  readonly lock: FileLock;
}

/**
 * How far a watch has come in the events. With a file it goes on there when it is started again: no event is left out, and none comes twice
 * but those that were in work when the watch was killed.
 */
export class EventPlace {
  /** The lock is held as long as the watch runs. */
  readonly #store: Store | null;
  /** After the place, in the order of the stream, and whether they are handled. */
  readonly #events = new Map<string, boolean>();
  /** Handled by an earlier watch, and not seen again yet. */
  readonly #handledBefore: Set<string>;
  #after: string;
  #isUnsaved = false;

  private constructor(store: Store | null, { after, handled }: Remembered) {
    this.#store = store;
    this.#after = after;
    this.#handledBefore = new Set(handled);
  }

  /** `start`: where a watch begins that remembers nothing. Throws Failure when the file cannot be used. */
  static async open(file: string | null, start: () => Promise<string>): Promise<EventPlace> {
    if (file === null) return new EventPlace(null, { after: await start(), handled: [] });
    const lock = await lockOf(file);
    const remembered = read(file) ?? { after: await start(), handled: [] };
    const place = new EventPlace({ file, lock }, remembered);
    orFail(file, () => place.#write(file));
    return place;
  }

  /** The watch goes on behind this event. */
  get after(): string {
    return this.#after;
  }

  /** The next event of the stream; false: an earlier watch has handled it. */
  begin(id: string): boolean {
    const isNew = !this.#handledBefore.delete(id);
    this.#events.set(id, !isNew);
    if (!isNew) this.#advance();
    return isNew;
  }

  /** The event is handled. */
  end(id: string): void {
    this.#events.set(id, true);
    this.#advance();
  }

  /** Up to the first event that is not handled. */
  #advance(): void {
    for (const [id, isHandled] of this.#events) {
      if (!isHandled) break;
      this.#events.delete(id);
      this.#after = id;
    }
    this.#save();
  }

  /** A full disk does not keep the watch from handling events. */
  #save(): void {
    if (this.#store === null) return;
    const { file } = this.#store;
    try {
      this.#write(file);
      this.#isUnsaved = false;
    } catch (error) {
      if (!this.#isUnsaved)
        note(`cannot write ${file}: ${(error as Error).message}; after a restart events come again`);
      this.#isUnsaved = true;
    }
  }

  #write(file: string): void {
    const later = [...this.#events].flatMap(([id, isHandled]) => (isHandled ? [id] : []));
    const remembered: Remembered = { after: this.#after, handled: [...later, ...this.#handledBefore] };
    writePrivateFile(file, `${JSON.stringify(remembered)}\n`);
  }
}

/** Two watches of one file would each handle every event. */
async function lockOf(file: string): Promise<FileLock> {
  const { lockFile } = await import('@svc/kernel');
  const lock = orFail(file, () => lockFile(`${file}.lock`));
  return lock ?? raise(`another svc events watch uses ${file}`);
}

/** null: nothing is remembered. */
function read(file: string): Remembered | null {
  const { size } = orFail(file, () => statSync(file, { throwIfNoEntry: false })) ?? { size: 0 };
  if (size === 0) return null;
  const found = size > MOST_BYTES ? null : parse(orFail(file, () => readFileSync(file, 'utf8')));
  return found ?? raise(`${file} is no file that --state has written: name another one`);
}

function parse(text: string): Remembered | null {
  try {
    const { after, handled } = JSON.parse(text) as Partial<Record<keyof Remembered, unknown>>;
    const isFine = Array.isArray(handled) && [after, ...(handled as unknown[])].every(isEventId);
    return isFine ? { after: after as string, handled: handled as string[] } : null;
  } catch {
    return null;
  }
}

function isEventId(value: unknown): boolean {
  return typeof value === 'string' && toId('event', value) === value;
}

function orFail<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Failure(`--state ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function raise(message: string): never {
  throw new Failure(message);
}
