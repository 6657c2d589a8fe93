export interface SseEvent {
  /** The last id in the stream so far, or null. */
  id: string | null;
  /** `message` when the stream names none. */
  event: string;
  data: string;
}

/** Parses server-sent events from text chunks that may be split anywhere. Comments are skipped, as the standard says. */
export class SseParser {
  /** The delay before a reconnect, if the server has sent one. */
  retryMs: number | null = null;
  #rest = '';
  #isStart = true;
  #event = '';
  #data: string[] = [];

  /** `lastId`: the last id of the previous connection. */
  constructor(public lastId: string | null = null) {}

  push(chunk: string): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.#rest + chunk;
    if (this.#isStart && text.length > 0) {
      if (text.startsWith('\uFEFF')) text = text.slice(1);
      this.#isStart = false;
    }
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start);
      if (end === null) break;
      this.#takeLine(text.slice(start, end.at), events);
      start = end.next;
    }
    this.#rest = text.slice(start);
    return events;
  }

  #takeLine(line: string, events: SseEvent[]): void {
    if (line === '') return this.#dispatch(events);
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.lastId = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0) {
      events.push({
        id: this.lastId,
        event: this.#event === '' ? 'message' : this.#event,
        data: this.#data.join('\n'),
      });
    }
    this.#data = [];
    this.#event = '';
  }
}

/** Where the line from `start` ends; a CR at the very end waits, since LF may follow in the next chunk. */
function lineEnd(text: string, start: number): { at: number; next: number } | null {
  const lf = text.indexOf('\n', start);
  const cr = text.indexOf('\r', start);
  if (cr >= 0 && (lf < 0 || cr < lf)) {
    if (cr === text.length - 1) return null;
    return { at: cr, next: text[cr + 1] === '\n' ? cr + 2 : cr + 1 };
  }
  return lf < 0 ? null : { at: lf, next: lf + 1 };
}
