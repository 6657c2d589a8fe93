import type { WebSocket } from 'ws';
import { systemClock, type Timer } from '@svc/hooks';
import type { Logger } from 'pino';
import { MISSED_PINGS, type HttpLimits } from './limits.js';

const CHECK_EVERY_MS = 1_000;

/** Terminates sockets whose peer does not read: they have too much unsent data, or pings are not answered. */
export class SocketWatch {
  readonly #unanswered = new Map<WebSocket, number>();
  readonly #timers: readonly Timer[];

  constructor(
    private readonly limits: Pick<HttpLimits, 'pingMs' | 'socketBytes'>,
    private readonly log: Logger,
  ) {
    this.#timers = [
      systemClock.setInterval(() => this.#terminateFull(), Math.min(CHECK_EVERY_MS, limits.pingMs)),
      systemClock.setInterval(() => this.#pingAll(), limits.pingMs),
    ];
  }

  add(socket: WebSocket): void {
    this.#unanswered.set(socket, 0);
    socket.on('pong', () => this.#unanswered.set(socket, 0));
    socket.once('close', () => this.#unanswered.delete(socket));
  }

  close(): void {
    for (const timer of this.#timers) timer.clear();
  }

  #terminateFull(): void {
    for (const socket of this.#unanswered.keys())
      if (socket.bufferedAmount > this.limits.socketBytes)
        this.#terminate(
          socket,
          `more than ${this.limits.socketBytes} bytes are unsent, as its peer does not read`,
        );
  }

  #pingAll(): void {
    for (const [socket, unanswered] of this.#unanswered) {
      if (unanswered >= MISSED_PINGS) this.#terminate(socket, `its peer left ${unanswered} pings unanswered`);
      else if (socket.readyState === socket.OPEN) {
        this.#unanswered.set(socket, unanswered + 1);
        socket.ping();
      }
    }
  }

  #terminate(socket: WebSocket, why: string): void {
    this.log.warn(`a WebSocket was terminated: ${why}`);
    socket.terminate();
  }
}
