import http from 'node:http';

export interface StreamTarget {
  readonly url: string;
  readonly token: string;
  readonly lastEventId?: string;
}

const TITLE = /"title":"e(\d+)"/g;
const CREATED = /"created_at":(\d+)/g;

/** One client of the event stream. Events are numbered in their title. */
export class StreamClient {
  /** The numbers of the events that came, in their order. */
  readonly numbers: number[] = [];
  readonly agesMs: number[] = [];
  isOpen = false;
  #rest = '';
  #request: http.ClientRequest | undefined;

  constructor(private readonly measuresAges: boolean) {}

  /** Resolves once the stream is open. `isReading: false`: nothing of it is ever read. */
  async open({ url, token, lastEventId }: StreamTarget, isReading = true): Promise<void> {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    };
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      this.#request = http.get(`${url}/api/v1/events/stream?type=CUSTOM`, { headers, agent: false }, resolve);
      this.#request.on('error', reject);
    });
    if (response.statusCode !== 200) throw new Error(`the stream answered ${response.statusCode}`);
    this.isOpen = true;
    response.on('error', () => undefined).on('close', () => (this.isOpen = false));
    response.setEncoding('latin1');
    if (isReading) response.on('data', (text: string) => this.#take(text));
    else response.pause();
  }

  close(): void {
    this.#request?.destroy();
  }

  #take(text: string): void {
    const whole = this.#rest + text;
    const end = whole.lastIndexOf('\n\n') + 2;
    if (end < 2) return void (this.#rest = whole);
    this.#rest = whole.slice(end);
    const messages = whole.slice(0, end);
    for (const [, number] of messages.matchAll(TITLE)) this.numbers.push(Number(number));
    if (!this.measuresAges) return;
    const now = Date.now();
    for (const [, created] of messages.matchAll(CREATED)) this.agesMs.push(now - Number(created));
  }
}
