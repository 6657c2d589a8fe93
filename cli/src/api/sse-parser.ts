export interface SseEvent {
  readonly id: string | null;
  /** `message` when the stream named none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Takes a server-sent-events stream in pieces, cut anywhere, and gives the events that are complete.
 * Follows the WHATWG rules: CR, LF or CRLF; comments ignored; several data lines joined by LF; no data, no event.
 */
export function createSseParser(): (piece: string) => SseEvent[] {
  let rest = '';
  let id: string | null = null;
  let event = '';
  let data: string[] = [];

  const takeLine = (line: string): SseEvent | null => {
    if (line === '') return dispatch();
    const { field, value } = splitField(line);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    return null;
  };

  const dispatch = (): SseEvent | null => {
    const complete = data.length > 0 ? { id, event: event || 'message', data: data.join('\n') } : null;
    event = '';
    data = [];
    return complete;
  };

  return (piece) => {
    rest += piece;
    const events: SseEvent[] = [];
    for (;;) {
      const end = rest.search(/[\r\n]/);
      // A CR at the very end may be the first half of a CRLF.
      if (end === -1 || (rest[end] === '\r' && end === rest.length - 1)) return events;
      const found = takeLine(rest.slice(0, end));
      if (found) events.push(found);
      rest = rest.slice(end + (rest.startsWith('\r\n', end) ? 2 : 1));
    }
  };
}

function splitField(line: string): { field: string; value: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { field: line, value: '' };
  const value = line.slice(colon + 1);
  return { field: line.slice(0, colon), value: value.startsWith(' ') ? value.slice(1) : value };
}
