import { CLOSE, MAX_FRAME_BYTES, type AgentFrame, type Hello, type ServerFrame } from '@svc/contract';
import { yieldIfSliceOver, type Clock, type Logger } from '@svc/kernel';
import type { RawData, WebSocket } from 'ws';
import type { Connection } from './connections.js';
import { MalformedFrame, ProtocolMismatch, parseFrame } from './frames.js';
import { Refusal } from './enrol.js';
import { LatestWord } from './latest-word.js';
import { OrderedWork } from './ordered-work.js';
import type { AgentNode } from './hooks.js';

const HELLO_WITHIN_MS = 10_000;
const MAX_REASON_BYTES = 120;
/** Back-pressure: while the frames in progress have more bytes than this, the socket is not read. */
const MAX_BYTES_IN_FLIGHT = 2 * MAX_FRAME_BYTES;
/** While the frames in progress have more bytes than this, the session yields to others before each frame. */
const YIELD_ABOVE_BYTES = 64 * 1024;

export type NonHelloFrame = Exclude<AgentFrame, Hello>;

/** What a session calls at the hub. */
export interface SessionHost {
  /** Checks and stores the hello, attaches the session, sets its node, and resolves with the welcome. Throws Refusal. */
  welcome(hello: Hello, session: Session): Promise<ServerFrame>;
  /** Called after the welcome has been sent. */
  opened(session: Session): Promise<void>;
  /** Processes a frame after the hello. */
  frame(frame: NonHelloFrame, session: Session): Promise<void>;
  closed(session: Session, reason: string): Promise<void>;
}

/** One agent connection: hello, welcome, then frames in both directions. */
export class Session implements Connection {
  lastSeenAt: number;
  node: AgentNode | null = null;
  readonly slots: LatestWord<Hello['slots']>;
  readonly runners: LatestWord<Hello['runners']>;
  #isWelcome = false;
  /** Settles when the welcome has been sent, or the hello refused. */
  #welcomed: Promise<void> | null = null;
  /** Settles when `host.closed` has returned. */
  #closeHandled: Promise<void> | null = null;
  #isClosing = false;
  #closeReason: string | null = null;
  readonly #unsent: ServerFrame[] = [];
  readonly #work = new OrderedWork();
  /** Settles when the last `slots` frame has been processed: what comes after it counts on that. */
  #slotsNoted: Promise<void> | null = null;
  readonly #helloTimer;

  constructor(
    readonly number: number,
    private readonly socket: WebSocket,
    private readonly host: SessionHost,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.lastSeenAt = clock.now();
    this.slots = new LatestWord(clock);
    this.runners = new LatestWord(clock);
    this.#helloTimer = clock.setTimeout(
      () => this.close(CLOSE.protocolError, 'no hello within 10 s'),
      HELLO_WITHIN_MS,
    );
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', (code, reason) => this.#ended(reason.toString() || `socket closed (${code})`));
  }

  get isOpen(): boolean {
    return this.#isWelcome && this.#isUsable;
  }

  /** The kernel and the peer may close the socket as well. */
  get #isUsable(): boolean {
    return !this.#isClosing && this.socket.readyState === this.socket.OPEN;
  }

  send(frame: ServerFrame): boolean {
    if (!this.#isUsable) return false;
    if (this.#isWelcome) this.socket.send(JSON.stringify(frame));
    else this.#unsent.push(frame);
    return true;
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#closeReason = reason;
    this.socket.close(code, toCloseReason(reason));
  }

  terminate(reason: string): void {
    this.close(CLOSE.silent, reason);
    this.socket.terminate();
  }

  /** Resolves once every received frame and, if the connection has ended, its end have been processed. */
  async settle(): Promise<void> {
    await this.#welcomed;
    await this.#work.settle();
    await this.#closeHandled;
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!this.#isUsable) return;
    this.lastSeenAt = this.clock.now();
    try {
      if (isBinary) throw new MalformedFrame('frames are text');
      const frame = parseFrame(data as Buffer);
      if (frame) this.#dispatch(frame, (data as Buffer).length);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #dispatch(frame: AgentFrame, sizeBytes: number): void {
    if (frame.type === 'hello') {
      if (this.#welcomed) throw new MalformedFrame('a second hello');
      this.#welcomed = this.#takeHello(frame).catch((error: unknown) => this.#refuse(error));
      return;
    }
    if (!this.#welcomed) throw new MalformedFrame('the first frame must be a hello');
    const welcomed = this.#welcomed;
    if (frame.type === 'slots') this.slots.hear(frame.slots);
    if (frame.type === 'runners') this.runners.hear(frame.runners);
    const key = 'job_id' in frame ? frame.job_id : frame.type;
    const slotsNoted = this.#slotsNoted;
    const work = this.#work.run(key, sizeBytes, async () => {
      await welcomed;
      await slotsNoted;
      if (this.#work.weight > YIELD_ABOVE_BYTES) await yieldIfSliceOver();
      if (this.#isWelcome) await this.host.frame(frame, this);
    });
    if (frame.type === 'slots') this.#slotsNoted = work;
    work.catch((error: unknown) => this.#refuse(error)).finally(() => this.#resumeReading());
    if (this.#work.weight > MAX_BYTES_IN_FLIGHT) this.socket.pause();
  }

  async #takeHello(hello: Hello): Promise<void> {
    this.#helloTimer.clear();
    const welcome = await this.host.welcome(hello, this);
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.#isWelcome = true;
    this.send(welcome);
    for (const frame of this.#unsent.splice(0)) this.send(frame);
    await this.host.opened(this);
  }

  /**
   * Closes the connection after a frame that failed. Nothing is lost: the agent reconnects, and its hello repeats what it has.
   */
  #refuse(error: unknown): void {
    const about = { node_id: this.node?.id, connection: this.number };
    if (error instanceof Refusal || error instanceof ProtocolMismatch) {
      const code = error instanceof Refusal ? error.code : 'protocol';
      this.log.warn({ ...about, code }, `hello refused: ${error.message}`);
      this.socket.send(JSON.stringify({ type: 'refused', code, message: error.message }));
      this.close(CLOSE.refused, error.message);
    } else if (error instanceof MalformedFrame) {
      this.log.warn(about, `agent closed: ${error.message}`);
      this.close(CLOSE.malformed, error.message);
    } else if (!this.#isClosing) {
      this.log.error(
        { ...about, err: error },
        'a frame could not be dealt with; the agent is to come back and repeat it',
      );
      this.close(CLOSE.internal, 'the server could not deal with a frame; say hello again');
    }
  }

  #resumeReading(): void {
    if (this.socket.isPaused && this.#work.weight <= MAX_BYTES_IN_FLIGHT) this.socket.resume();
  }

  #ended(reason: string): void {
    this.#isClosing = true;
    this.#helloTimer.clear();
    this.#closeHandled = Promise.resolve(this.#welcomed).then(() =>
      this.host.closed(this, this.#closeReason ?? reason),
    );
  }
}

/** A close reason as WebSocket allows it: at most 123 bytes. */
function toCloseReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1);
  return reason;
}
