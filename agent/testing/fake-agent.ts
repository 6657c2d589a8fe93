import {
  AGENT_PROTOCOL,
  newId,
  type AgentFrame,
  type AttemptKey,
  type AttemptReport,
  type Exit,
  type FrameOf,
  type Hello,
  type ServerFrame,
  type Welcome,
} from '@svc/contract';
import { until } from '@svc/hooks/testing';
import { WebSocket } from 'ws';
import { checkAgentFrame, checkServerFrame } from './frame-check.js';

type Matches<T extends ServerFrame['type']> = (frame: FrameOf<ServerFrame, T>) => boolean;

export interface FakeAgentOptions {
  readonly url: string;
  readonly token?: string;
  readonly hello?: Partial<Hello>;
}

/**
 * Speaks the agent protocol over a real socket, and does exactly what the test says. A frame that the contract does not allow throws: in
 * `send`, or, when it comes from the server, where nobody can catch it, so that the running test fails.
 */
export class FakeAgent {
  readonly nodeId: string;
  readonly frames: ServerFrame[] = [];
  secret: string | null = null;
  closed: { code: number; reason: string } | null = null;
  #socket: WebSocket | null = null;
  readonly #taken = new Set<ServerFrame>();

  constructor(private readonly options: FakeAgentOptions) {
    this.nodeId = options.hello?.node_id ?? newId('node');
  }

  /** Opens the socket without a word. */
  async open(): Promise<void> {
    const { url, token = 'agent' } = this.options;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agent/ws`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    this.closed = null;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as ServerFrame;
      this.frames.push(frame);
      // Thrown at once, it would break the socket, too.
      queueMicrotask(() => checkServerFrame(frame));
    });
    socket.on('close', (code, reason) => {
      if (this.#socket === socket) this.closed = { code, reason: reason.toString() };
    });
    await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  }

  /** Opens a socket (a second one leaves the first alone), says hello and waits for the welcome. */
  async connect(hello: Partial<Hello> = {}): Promise<Welcome> {
    await this.open();
    this.send(this.toHello(hello));
    const welcome = await this.take('welcome');
    this.secret = welcome.node_secret;
    return welcome;
  }

  toHello(hello: Partial<Hello> = {}): Hello {
    return {
      type: 'hello',
      protocol: AGENT_PROTOCOL,
      node_id: this.nodeId,
      node_secret: this.secret,
      name: 'gpu-1',
      hostname: 'gpu-1.local',
      version: '0.1.0',
      boot_id: 'boot-1',
      labels: {},
      slots: virtualSlots(1),
      max_cpu_jobs: 4,
      runners: [{ name: 'process', available: true, reason: null, version: null }],
      system: { cpu_count: 4, ram_total_mb: 1024 },
      attempts: [],
      ...this.options.hello,
      ...hello,
    };
  }

  send(frame: AgentFrame): void {
    checkAgentFrame(frame);
    this.sendRaw(JSON.stringify(frame));
  }

  /** For what the contract does not allow: nothing is checked. */
  sendRaw(data: string | Buffer): void {
    this.#socket?.send(data);
  }

  /** The first frame of that type, with those fields, that was not taken before, from the `from`th on. */
  take<T extends ServerFrame['type']>(
    type: T,
    about: Partial<FrameOf<ServerFrame, T>> | Matches<T> = {},
    from = 0,
  ): Promise<FrameOf<ServerFrame, T>> {
    const matches = typeof about === 'function' ? about : (frame: object) => hasAll(frame, about);
    const isIt = (frame: ServerFrame): frame is FrameOf<ServerFrame, T> =>
      frame.type === type && !this.#taken.has(frame) && matches(frame as FrameOf<ServerFrame, T>);
    return until(() => {
      const frame = this.frames.slice(from).find(isIt);
      if (frame) this.#taken.add(frame);
      return frame;
    }, `a ${type} frame`) as Promise<FrameOf<ServerFrame, T>>;
  }

  count(type: ServerFrame['type']): number {
    return this.frames.filter((frame) => frame.type === type).length;
  }

  accept(key: AttemptKey): void {
    this.send({ type: 'accepted', ...keyOf(key) });
  }

  running(key: AttemptKey, report: Partial<AttemptReport> = {}): void {
    this.send({ type: 'attempt', ...toReport(key, report) });
  }

  ended(key: AttemptKey, exit: Exit, report: Partial<AttemptReport> = {}): void {
    this.send({ type: 'attempt', ...toReport(key, { state: 'ended', exit, ...report }) });
  }

  /** Takes the next dispatch, acknowledges it and says that it runs. */
  async start(about: Partial<AttemptKey> = {}): Promise<FrameOf<ServerFrame, 'dispatch'>> {
    const dispatch = await this.take('dispatch', about);
    this.accept(dispatch);
    this.running(dispatch);
    return dispatch;
  }

  /** Reads no more, as a host that was suspended: it does not even learn that it was closed. */
  freeze(): void {
    this.#socket?.pause();
  }

  /** As when the cable is pulled or the host dies. */
  cut(): void {
    this.#socket?.terminate();
  }

  /** How the server closed the connection. */
  async gone(): Promise<{ code: number; reason: string }> {
    return (await until(() => this.closed))!;
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.close();
    await gone;
  }
}

export function toReport(key: AttemptKey, report: Partial<AttemptReport> = {}): AttemptReport {
  return {
    ...keyOf(key),
    state: 'running',
    pid: 4242,
    started_at: null,
    exit: null,
    finished_at: null,
    ...report,
  };
}

export function virtualSlots(count: number, model = 'virtual'): Hello['slots'] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    uuid: `v-${index}`,
    model,
    memory_total_mb: null,
    virtual: true,
  }));
}

function keyOf({ job_id, attempt }: AttemptKey): AttemptKey {
  return { job_id, attempt };
}

function hasAll(frame: object, about: object): boolean {
  return Object.entries(about).every(([key, value]) => (frame as Record<string, unknown>)[key] === value);
}
