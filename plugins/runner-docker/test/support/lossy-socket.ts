import { renameSync, rmSync } from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';

/** In front of the socket of an engine: one answer that is to be lost is, once the engine has given it. */
export class LossySocket {
  readonly #socket: string;
  readonly #server: net.Server;
  #lost: RegExp | null = null;

  private constructor(socket: string) {
    this.#socket = socket;
    this.#server = net.createServer((client) => this.#pass(client));
  }

  static async before(socket: string): Promise<LossySocket> {
    const lossy = new LossySocket(socket);
    renameSync(socket, `${socket}.real`);
    lossy.#server.listen(socket);
    await once(lossy.#server, 'listening');
    return lossy;
  }

  /** To the next request whose first line matches. */
  loseAnswerTo(request: RegExp): void {
    this.#lost = request;
  }

  get hasLost(): boolean {
    return this.#lost === null;
  }

  /** The engine is reached as before. */
  remove(): void {
    this.#server.close();
    rmSync(this.#socket, { force: true });
    renameSync(`${this.#socket}.real`, this.#socket);
  }

  #pass(client: net.Socket): void {
    const engine = net.connect(`${this.#socket}.real`);
    for (const [one, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    client.once('data', (first) => {
      const isLost = this.#lost?.test(first.toString('latin1').split('\r\n')[0] ?? '') ?? false;
      if (isLost) {
        this.#lost = null;
        engine.once('data', () => client.destroy());
      } else engine.pipe(client);
      engine.write(first);
      client.pipe(engine);
    });
  }
}
