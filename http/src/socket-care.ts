import type { WebSocket } from 'ws';
import { systemClock, type Timer } from '@svc/hooks';
import type { Logger } from 'pino';
import { MISSED_PINGS, type HttpLimits } from './limits.js';

const LOOK_EVERY_MS = 1_000;

/** Cuts the sockets whose peer reads nothing: too much waits for it, or it has not answered pings. */
export class SocketCare {
  readonly #unanswered = new Map<WebSocket, number>();
  readonly #timers: readonly Timer[];

  constructor(
    private readonly limits: Pick<HttpLimits, 'pingMs' | 'socketBytes'>,
    private readonly log: Logger,
  ) {
    this.#timers = [
      systemClock.setInterval(() => this.#cutFull(), Math.min(LOOK_EVERY_MS, limits.pingMs)),
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

  #cutFull(): void {
    for (const socket of this.#unanswered.keys())
      if (socket.bufferedAmount > this.limits.socketBytes)
        this.#cut(
          socket,
          `more than ${this.limits.socketBytes} bytes wait for its peer, which does not read`,
        );
  }

  #pingAll(): void {
    for (const [socket, unanswered] of this.#unanswered) {
      if (unanswered >= MISSED_PINGS) this.#cut(socket, `its peer left ${unanswered} pings unanswered`);
      else if (socket.readyState === socket.OPEN) {
        this.#unanswered.set(socket, unanswered + 1);
        socket.ping();
      }
    }
  }

  #cut(socket: WebSocket, why: string): void {
    this.log.warn(`a WebSocket was cut: ${why}`);
    socket.terminate();
  }
}
