export interface SseEvent {
  readonly id: string | null;
  readonly event: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests reach into data of every shape
  readonly data: any;
}

export interface SseOptions {
  readonly token?: string;
  readonly lastEventId?: string;
  /** Yield comments too, as `{ event: 'comment', data: text }`. */
  readonly comments?: boolean;
}

/** Iterate it for events; it ends when the server ends the stream, and leaving the loop closes it. */
export interface SseClient extends AsyncIterableIterator<SseEvent> {
  readonly headers: Headers;
  /** The next event; throws when the stream is over. */
  take(): Promise<SseEvent>;
  close(): Promise<void>;
}

/** Reads a stream of events over fetch. Throws when the answer is no such stream. */
export async function openSse(
  url: string,
  { token, lastEventId, comments = false }: SseOptions = {},
): Promise<SseClient> {
  const aborter = new AbortController();
  const answer = await fetch(url, {
    signal: aborter.signal,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    },
  });
  if (answer.status !== 200 || !answer.body) throw new Error(`${answer.status}: ${await answer.text()}`);
  // At once: fetch cancels a body that nobody reads when its response is garbage-collected.
  const text = answer.body.pipeThrough(new TextDecoderStream() as never) as AsyncIterable<string>;
  const events = readEvents(text, comments);
  const close = async () => {
    aborter.abort();
    await events.return(undefined).catch(() => undefined);
  };
  const client: SseClient = {
    headers: answer.headers,
    [Symbol.asyncIterator]: () => client,
    next: () => events.next(),
    return: async () => {
      await close();
      return { done: true, value: undefined };
    },
    async take() {
      const { done, value } = await events.next();
      if (done) throw new Error('the stream is over');
      return value;
    },
    close,
  };
  return client;
}

async function* readEvents(
  text: AsyncIterable<string>,
  comments: boolean,
): AsyncGenerator<SseEvent, undefined> {
  let rest = '';
  for await (const chunk of text) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event.event !== 'comment' || comments) yield event;
    }
  }
  return undefined;
}

function parseEvent(block: string): SseEvent {
  if (block.startsWith(':')) return { id: null, event: 'comment', data: block.slice(1).trim() };
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  return {
    id: fields.get('id') ?? null,
    event: fields.get('event') ?? null,
    data: JSON.parse(fields.get('data') ?? 'null'),
  };
}
