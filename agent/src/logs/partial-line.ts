const EVERY_MS = 1000;
/** A line that has its end sooner is not shown: of a program that writes a line and its end one after the other, nothing is sent. */
const SETTLED_MS = 250;

/** Shows the server the line of one stream that has no end yet, at most once a second, and only when it has changed. */
export class PartialLine {
  readonly #send: (text: string) => void;
  readonly #look: () => void;
  /** As it was sent last; empty: the server shows none. */
  #sent = '';
  /** Since when there has been a line without an end; null: there is none. */
  #begunAt: number | null = null;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  /** `look` reads the log again, after which `show` or `forget` is called: the line may have its end by then. */
  constructor(send: (text: string) => void, look: () => void) {
    this.#send = send;
    this.#look = look;
  }

  show(text: string): void {
    if (text === this.#sent) return;
    const now = performance.now();
    this.#begunAt ??= now;
    const waitMs = Math.max(this.#begunAt + SETTLED_MS, this.#sentAt + EVERY_MS) - now;
    if (waitMs > 0) return this.#lookAfter(waitMs);
    this.#sent = text;
    this.#sentAt = now;
    this.#send(text);
  }

  /** The server shows none by now: it has got the line, or lost the connection. */
  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#begunAt = null;
    this.#sent = '';
  }

  #lookAfter(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, waitMs).unref();
  }
}
