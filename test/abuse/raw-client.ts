import { once } from 'node:events';
import net, { type Socket } from 'node:net';

/** Connections that do what no client of ours does; `close` ends them all. */
export class RawClients {
  readonly sockets: Socket[] = [];
  readonly #port: number;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  async open(count: number, firstWords = ''): Promise<Socket[]> {
    const opened: Socket[] = [];
    for (let at = 0; at < count; at++) {
      const socket = net.connect(this.#port, '127.0.0.1');
      // The server may hang up on them: that is one of the answers wanted.
      socket.on('error', () => socket.destroy());
      this.sockets.push(socket);
      opened.push(socket);
      await once(socket, 'connect');
      if (firstWords !== '') socket.write(firstWords);
    }
    return opened;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

export async function withClients(url: string, work: (clients: RawClients) => Promise<void>): Promise<void> {
  const clients = new RawClients(url);
  try {
    await work(clients);
  } finally {
    clients.close();
  }
}

export function head(
  method: string,
  path: string,
  token: string | null,
  more: readonly string[] = [],
): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
  ];
  return [...lines, ...more, '', ''].join('\r\n');
}
