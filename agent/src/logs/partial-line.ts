const EVERY_MS = 1000;
/** A line that has its end sooner is not shown: of a program that writes a line and its end one after the other, nothing is sent. */
const SETTLED_MS = 250;

/** Shows the server the line of one stream that has no end yet, at most once a second, and only when it has changed. */
export class PartialLine {
  readonly #send: (text: string) => void;
  /** As it is now, and as it was sent last; empty: there is none. */
  #text = '';
  #sent = '';
  /** Since when there has been a line without an end; null: there is none. */
  #begunAt: number | null = null;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  show(text: string): void {
    this.#text = text;
    if (text === this.#sent || this.#timer !== null) return;
    this.#begunAt ??= performance.now();
    const dueAt = Math.max(this.#begunAt + SETTLED_MS, this.#sentAt + EVERY_MS);
    this.#timer = setTimeout(() => this.#sendNow(), Math.max(0, dueAt - performance.now())).unref();
  }

  /** The server shows none by now: it has got the line, or lost the connection. */
  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#begunAt = null;
    this.#text = '';
    this.#sent = '';
  }

  #sendNow(): void {
    this.#timer = null;
    if (this.#text === this.#sent) return;
    this.#sent = this.#text;
    this.#sentAt = performance.now();
    this.#send(this.#text);
  }
}
