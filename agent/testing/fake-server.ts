import type {
  AgentFrame,
  AttemptKey,
  ChannelAck,
  FrameOf,
  Hello,
  LogPosition,
  ServerFrame,
  SpoolAck,
  Verdict,
  Welcome,
} from '@svc/contract';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { checkAgentFrame, checkServerFrame } from './frame-check.js';
import { LogBook } from './log-book.js';
import { until } from '@svc/hooks/testing';

type Of<T extends AgentFrame['type']> = FrameOf<AgentFrame, T>;
type Dispatch = FrameOf<ServerFrame, 'dispatch'>;

export const TOKEN = 'svc_agent_token-of-the-tests';
const SECRET = 'the-node-secret';

/**
 * The server's side of the agent protocol over a real socket. It keeps logs by high-water mark as the real one does, and leaves
 * everything else to the test. A frame that the contract does not allow throws: in `send`, or, when it comes from an agent, where
 * nobody can catch it, so that the running test fails.
 */
export class FakeServer {
  /** Every frame of every connection, in order. */
  readonly frames: AgentFrame[] = [];
  readonly logs = new LogBook();
  /** What `welcome` says of an attempt in hello; by default an end is forgotten and all else kept. */
  verdict: (report: Hello['attempts'][number]) => Verdict = ({ state }) =>
    state === 'ended' ? 'forget' : 'keep';
  /** Answers hello in place of welcome. */
  refusal: FrameOf<ServerFrame, 'refused'> | null = null;
  /** Whether `accepted` is answered by `start`. */
  starts = true;
  /** Whether an `attempt` frame that says `ended` is answered by `forget`. */
  forgets = true;
  acknowledges = true;
  /** What spool frames are answered with; null: with nothing. */
  takeSpool: (frame: Of<'spool'>) => Pick<SpoolAck, 'offset' | 'refused'> | null = ({ lines }) => ({
    offset: lines.at(-1)?.to ?? 0,
    refused: [],
  });
  /** The channels that `welcome` names. */
  channels: readonly string[] = [];
  /** What channel frames are answered with; null: with nothing. */
  takeChannel: (frame: Of<'channel'>) => Pick<ChannelAck, 'offset' | 'refused'> | null = ({ lines }) => ({
    offset: lines.at(-1)?.to ?? 0,
    refused: [],
  });
  /** Takes hello without an answer. */
  silent = false;
  heartbeatMs = 25_000;
  /** Times that an agent was welcomed: from then on it takes frames. */
  welcomes = 0;
  port = 0;
  readonly #server: WebSocketServer;
  #socket: WebSocket | null = null;
  /** The hello of the newest connection, which was taken in silence. */
  #unanswered: Hello | null = null;

  private constructor(port: number) {
    this.#server = new WebSocketServer({
      host: '127.0.0.1',
      port,
      path: '/api/v1/agent/ws',
      verifyClient: isOurs,
    });
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  /** `port` 0: any that is free. */
  static async listen(port = 0): Promise<FakeServer> {
    const server = new FakeServer(port);
    await once(server.#server, 'listening');
    server.port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  send(frame: ServerFrame): void {
    if (this.#socket !== null) this.#answer(this.#socket, frame);
  }

  sendRaw(text: string): void {
    this.#socket?.send(text);
  }

  dispatch(given: AttemptKey & { plan: unknown } & Partial<Dispatch>): void {
    const defaults = {
      job_type: 'TRAIN' as const,
      run_id: null,
      name: 'test',
      runner: 'process',
      env: {},
      working_dir: null,
      gpu_indices: [],
    };
    this.send({ type: 'dispatch', kill_grace_ms: 5000, ...defaults, ...given });
  }

  stop({ job_id, attempt }: AttemptKey, graceMs: number): void {
    this.send({ type: 'stop', job_id, attempt, grace_ms: graceMs });
  }

  /** Welcomes an agent whose hello was taken in silence, or that comes with its hello from now on. */
  answerHello(): void {
    const hello = this.#unanswered;
    this.#unanswered = null;
    if (hello !== null) this.send(this.#welcome(hello));
    this.silent = false;
  }

  /** An agent waits for the answer to its hello. */
  get isAwaited(): boolean {
    return this.#unanswered !== null;
  }

  all<T extends AgentFrame['type']>(type: T): Of<T>[] {
    return this.frames.filter((frame): frame is Of<T> => frame.type === type);
  }

  /** The first frame of that type that fits, now or later. */
  async frame<T extends AgentFrame['type']>(
    type: T,
    fits: (frame: Of<T>) => boolean = () => true,
  ): Promise<Of<T>> {
    return until(() => this.all(type).find(fits), `a ${type} frame`);
  }

  running(key: AttemptKey): Promise<Of<'attempt'>> {
    return this.frame('attempt', (frame) => isSame(frame, key) && frame.state === 'running');
  }

  /** The report of the attempt's end, with all of its log in. What ends while the connection is cut is told in the next hello. */
  async ended(key: AttemptKey): Promise<Hello['attempts'][number]> {
    const find = () =>
      [...this.all('attempt'), ...this.all('hello').flatMap(({ attempts }) => attempts)].find(
        (report) => isSame(report, key) && report.state === 'ended',
      );
    const report = await until(find, 'the end of the attempt');
    await until(() => this.logs.isComplete(key), 'the end of both logs');
    return report;
  }

  /** Cuts the connection as a network does: without a word. */
  cut(): void {
    this.#socket?.terminate();
  }

  /** Closes the connection as WebSocket does. */
  hangUp(code: number, reason: string): void {
    this.#socket?.close(code, reason);
  }

  /** Leaves the connection open and does not read from it any more, as a host does that was suspended. */
  freeze(): void {
    this.#socket?.pause();
  }

  async close(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: WebSocket): void {
    this.#socket = socket;
    this.#unanswered = null;
    socket.on('close', () => {
      if (socket === this.#socket) this.#unanswered = null;
    });
    socket.on('message', (data) => this.#receive(socket, JSON.parse(String(data)) as AgentFrame));
  }

  #receive(socket: WebSocket, frame: AgentFrame): void {
    const answer = (reply: ServerFrame) => this.#answer(socket, reply);
    this.frames.push(frame);
    // Thrown at once, it would break the socket, too.
    queueMicrotask(() => checkAgentFrame(frame));
    if (frame.type === 'hello' && !this.silent) answer(this.refusal ?? this.#welcome(frame));
    if (frame.type === 'hello' && this.silent && socket === this.#socket) this.#unanswered = frame;
    if (frame.type === 'logs') {
      const position = this.logs.take(frame);
      if (this.acknowledges) answer({ type: 'logs_ack', ...position });
    }
    if (frame.type === 'spool') {
      const { job_id, attempt, file } = frame;
      const taken = this.takeSpool(frame);
      if (taken !== null) answer({ type: 'spool_ack', job_id, attempt, file, ...taken });
    }
    if (frame.type === 'channel') {
      const taken = this.takeChannel(frame);
      if (taken !== null) answer({ type: 'channel_ack', channel: frame.channel, file: frame.file, ...taken });
    }
    if (frame.type === 'accepted' && this.starts) answer({ ...frame, type: 'start' });
    if (frame.type === 'attempt' && frame.state === 'ended' && this.forgets) {
      answer({ type: 'forget', job_id: frame.job_id, attempt: frame.attempt });
    }
  }

  #answer(socket: WebSocket, frame: ServerFrame): void {
    checkServerFrame(frame);
    socket.send(JSON.stringify(frame));
  }

  #welcome({ protocol, node_id, attempts }: Hello): Welcome {
    this.welcomes += 1;
    const verdicts = attempts.map((report) => {
      return { job_id: report.job_id, attempt: report.attempt, verdict: this.verdict(report) };
    });
    const positions: LogPosition[] = attempts.flatMap((report) => this.logs.positions(report));
    const version = { node_secret: SECRET, server_version: 'fake', heartbeat_ms: this.heartbeatMs };
    const channels = [...this.channels];
    return { type: 'welcome', protocol, node_id, ...version, verdicts, log_positions: positions, channels };
  }
}

function isSame(a: AttemptKey, b: AttemptKey): boolean {
  return a.job_id === b.job_id && a.attempt === b.attempt;
}

function isOurs({ req }: { req: IncomingMessage }): boolean {
  return req.headers.authorization === `Bearer ${TOKEN}`;
}
