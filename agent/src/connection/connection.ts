import type { AgentFrame, FrameOf, ServerFrame, Welcome } from '@svc/contract';
import { AGENT_SOCKET_PATH, CLOSE, MAX_FRAME_BYTES, parseServerFrame } from '@svc/contract/protocol';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { WebSocket, type RawData } from 'ws';
import { toReason } from '../core/log.js';
import { readErrorMessage } from './error-message.js';
import type { SessionHandler, SessionOptions } from './session.js';

const SOCKET_PATH = `/api/v1${AGENT_SOCKET_PATH}`;
const ROOM_BYTES = 1024 * 1024;
/** The server refuses us, or another agent speaks as our node: coming back at once would not help. */
const LASTING_CLOSE_CODES: readonly number[] = [CLOSE.refused, CLOSE.replaced];

type Refused = FrameOf<ServerFrame, 'refused'>;

/** How a connection ended. */
export interface Leave {
  /** In a sentence, for a person. null: it was closed by us or by a server that shuts down. */
  readonly reason: string | null;
  /** Only a person can lift it. */
  readonly refused: boolean;
  /** The server is there, and waits for our hello. */
  readonly awaited: boolean;
  /** How long the server had us welcome, 0 when it had not. */
  readonly onlineMs: number;
}

/** One socket from its opening to its end: hello, welcome, beats, and the notice that the other side is dead. */
export class Connection {
  readonly #options: SessionOptions;
  readonly #handler: SessionHandler;
  readonly #onLeave: (leave: Leave) => void;
  readonly #socket: WebSocket;
  readonly #timers: NodeJS.Timeout[] = [];
  #phase: 'opening' | 'greeting' | 'online' | 'gone' = 'opening';
  /** Frames of the time between hello and welcome: hello does not say them, and it is too early to send them. */
  #early: AgentFrame[] = [];
  #waiting: (() => void)[] = [];
  #heardAt = performance.now();
  #onlineAt: number | null = null;
  #reason: string | null = null;
  #refused = false;

  constructor(options: SessionOptions, handler: SessionHandler, onLeave: (leave: Leave) => void) {
    this.#options = options;
    this.#handler = handler;
    this.#onLeave = onLeave;
    const { url, token, timing } = options;
    this.#socket = new WebSocket(toSocketUrl(url), {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: timing.greetingMs,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
    });
    this.#socket
      .on('open', () => void this.#greet())
      .on('message', (data) => this.#receive(data))
      .on('pong', () => (this.#heardAt = performance.now()))
      .on('unexpected-response', (_, answer) => this.#rejected(answer))
      .on('error', (error) => (this.#reason ??= `the server at ${url} cannot be reached: ${toReason(error)}`))
      .on('close', (code, reason) => this.#leave(code, String(reason)));
  }

  get isOnline(): boolean {
    return this.#phase === 'online';
  }

  send(frame: AgentFrame): void {
    if (this.#phase === 'greeting') this.#early.push(frame);
    if (this.#phase === 'online') this.#write(frame);
  }

  async room(): Promise<void> {
    while (this.isOnline && this.#socket.bufferedAmount > ROOM_BYTES) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  close(): void {
    this.#socket.close(CLOSE.goingAway, 'the agent closes');
    setTimeout(() => this.#socket.terminate(), 1000).unref();
  }

  /** Must hold: nothing happens between the phase, the hello and its sending, or a change of state would fall between. */
  async #greet(): Promise<void> {
    await this.#handler.prepare();
    if (this.#phase !== 'opening') return;
    this.#phase = 'greeting';
    this.#write(this.#handler.hello());
    this.#timers.push(
      setTimeout(() => this.#cut('it did not answer hello'), this.#options.timing.greetingMs),
    );
  }

  #receive(data: RawData): void {
    this.#heardAt = performance.now();
    try {
      const frame = parseServerFrame(String(data));
      if (frame === null || this.#phase === 'gone') return;
      if (frame.type === 'refused') this.#takeRefusal(frame);
      else if (frame.type === 'welcome') this.#takeWelcome(frame);
      else if (this.isOnline) this.#handler.onFrame(frame);
    } catch (error) {
      this.#options.log.error('a frame of the server was ignored', { reason: toReason(error) });
    }
  }

  #takeWelcome(welcome: Welcome): void {
    if (this.#phase !== 'greeting') return;
    this.#clearTimers();
    this.#phase = 'online';
    this.#onlineAt = performance.now();
    this.#beat(welcome.heartbeat_ms);
    try {
      this.#handler.onWelcome(welcome);
    } catch (error) {
      return this.#cut(`the agent cannot go on from its welcome: ${toReason(error)}`);
    }
    for (const frame of this.#early.splice(0)) this.#write(frame);
  }

  #takeRefusal({ code, message }: Refused): void {
    this.#refused = true;
    this.#reason = `the server refuses this agent (${code}): ${message}`;
    this.#socket.close();
  }

  #beat(heartbeatMs: number): void {
    const { clock, timing } = this.#options;
    const beat = () => this.send({ type: 'heartbeat', ts: clock.now() });
    const ping = () => {
      if (performance.now() - this.#heardAt > 2.5 * timing.pingMs) this.#cut('it has gone silent');
      else this.#socket.ping();
    };
    this.#timers.push(setInterval(beat, heartbeatMs), setInterval(ping, timing.pingMs));
  }

  /** The server answered the upgrade with a plain HTTP answer. */
  #rejected(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 0;
    if (status === 401 || status === 403) {
      this.#refuseForToken(
        status === 401 ? 'it is unknown, revoked or has expired' : 'it needs scope agent or write',
      );
      return void readErrorMessage(answer).then((message) => {
        if (message !== null) this.#refuseForToken(message);
        this.#socket.terminate();
      });
    }
    this.#reason =
      `the server at ${this.#options.url} answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
    answer.resume();
    this.#socket.terminate();
  }

  #refuseForToken(why: string): void {
    this.#refused = true;
    this.#reason = `the server refuses this agent's token: ${why}; start the agent with another one. Its jobs run on`;
  }

  #cut(why: string): void {
    this.#reason ??= `the connection to ${this.#options.url} was cut: ${why}`;
    this.#socket.terminate();
  }

  #write(frame: AgentFrame): void {
    this.#socket.send(JSON.stringify(frame), () => this.#makeRoom());
  }

  #makeRoom(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #leave(code: number, closeReason: string): void {
    this.#phase = 'gone';
    this.#refused ||= LASTING_CLOSE_CODES.includes(code);
    if (code === CLOSE.tokenRefused) this.#refuseForToken('it was revoked or has expired');
    if (closeReason !== '') this.#reason ??= `the server closed the connection: ${closeReason}`;
    this.#clearTimers();
    this.#makeRoom();
    const onlineMs = this.#onlineAt === null ? 0 : performance.now() - this.#onlineAt;
    this.#onLeave({
      reason: this.#reason,
      refused: this.#refused,
      awaited: code === CLOSE.sayHelloAgain,
      onlineMs,
    });
  }

  #clearTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }
}

/** `http(s)://host/base` to the address of the agents' socket. */
export function toSocketUrl(url: string): string {
  const socketUrl = new URL(url);
  socketUrl.protocol = socketUrl.protocol === 'https:' ? 'wss:' : 'ws:';
  socketUrl.pathname = socketUrl.pathname.replace(/\/+$/, '') + SOCKET_PATH;
  return socketUrl.href;
}
