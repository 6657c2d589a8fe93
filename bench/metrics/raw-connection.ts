import net from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';

/**
 * One kept-alive connection with one request at a time, and no more HTTP than this server's answers need: a client that eats
 * as little as it can of the cores that it shares with what it measures.
 */
export class RawConnection {
  private received = '';
  private answered: ((answer: RawAnswer) => void) | null = null;
  private failed: ((error: Error) => void) | null = null;

  private constructor(private readonly socket: net.Socket) {
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.takeAnswer();
    });
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server has closed the connection')));
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = net.connect(Number(port), hostname, () => resolve(new RawConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** `bytes` is a whole request. */
  send(bytes: string | Buffer): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.answered = resolve;
      this.failed = reject;
      this.socket.write(bytes);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private takeAnswer(): void {
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.received.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const end = headEnd + HEAD_END.length + length;
    if (this.received.length < end) return;
    const body = this.received.slice(headEnd + HEAD_END.length, end);
    this.received = this.received.slice(end);
    this.answered?.({ status: Number(head.slice(9, 12)), body });
  }

  private fail(error: Error): void {
    this.failed?.(error);
  }
}

/** The head of every request of one kind; `bodyBytes` differs. */
export function createRequestHead(method: string, path: string, token: string) {
  const fixed = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
  return (bodyBytes: number): string =>
    bodyBytes === 0
      ? `${fixed}\r\n`
      : `${fixed}Content-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
}
