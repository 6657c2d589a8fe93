import {
  AGENT_PROTOCOL,
  newId,
  type AgentFrame,
  type AttemptReport,
  type Exit,
  type FrameOf,
  type Hello,
  type ServerFrame,
} from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { WebSocket } from 'ws';

type Dispatch = FrameOf<ServerFrame, 'dispatch'>;

/** An agent of two virtual GPUs over a real socket, that does what the test says. */
export class FakeAgent {
  readonly received: ServerFrame[] = [];
  private socket: WebSocket | null = null;
  private secret: string | null = null;

  constructor(
    private readonly url: string,
    private readonly token: string,
    readonly nodeId = newId('node'),
  ) {}

  /** Connects and says hello; resolves with the answer. */
  async connect(attempts: AttemptReport[] = []): Promise<FrameOf<ServerFrame, 'welcome'>> {
    const from = this.received.length;
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/api/v1/agent/ws`, {
      headers: { Authorization: `Bearer ${this.token}` },
    });
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString()) as ServerFrame));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    this.send(this.hello(attempts));
    const welcome = await this.take('welcome', () => true, from);
    this.secret = welcome.node_secret;
    return welcome;
  }

  send(frame: AgentFrame): void {
    this.socket?.send(JSON.stringify(frame));
  }

  /** The first frame of that type, from the `from`th on. */
  async take<T extends ServerFrame['type']>(
    type: T,
    matches: (frame: FrameOf<ServerFrame, T>) => boolean = () => true,
    from = 0,
  ): Promise<FrameOf<ServerFrame, T>> {
    const find = () =>
      this.received
        .slice(from)
        .find((frame) => frame.type === type && matches(frame as FrameOf<ServerFrame, T>));
    await until(() => find() !== undefined);
    return find() as FrameOf<ServerFrame, T>;
  }

  dispatchOf(jobId: string, attempt = 1): Promise<Dispatch> {
    return this.take('dispatch', (frame) => frame.job_id === jobId && frame.attempt === attempt);
  }

  /** Takes the dispatch of the job and reports its process as running. */
  async start(jobId: string, attempt = 1): Promise<Dispatch> {
    const dispatch = await this.dispatchOf(jobId, attempt);
    this.send({ type: 'accepted', job_id: jobId, attempt });
    this.report({ job_id: jobId, attempt });
    return dispatch;
  }

  report(report: Partial<AttemptReport> & { job_id: string; attempt: number }): void {
    this.send({ type: 'attempt', ...toReport(report) });
  }

  end(jobId: string, exit: Exit = { kind: 'exited', code: 0 }, attempt = 1): void {
    this.report({ job_id: jobId, attempt, state: 'ended', exit, finished_at: Date.now() });
  }

  async close(): Promise<void> {
    const { socket } = this;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.close();
    await closed;
  }

  private hello(attempts: AttemptReport[]): Hello {
    const slot = (index: number) => ({
      index,
      uuid: `virtual-${index}`,
      model: 'virtual',
      memory_total_mb: null,
      virtual: true,
    });
    return {
      type: 'hello',
      protocol: AGENT_PROTOCOL,
      node_id: this.nodeId,
      node_secret: this.secret,
      name: this.nodeId,
      hostname: 'host',
      version: '0.1.0',
      boot_id: 'boot',
      labels: {},
      slots: [slot(0), slot(1)],
      max_cpu_jobs: 1000,
      runners: [{ name: 'process', available: true, reason: null, version: null }],
      system: { cpu_count: 4, ram_total_mb: 1000 },
      attempts,
    };
  }
}

export function toReport(
  report: Partial<AttemptReport> & { job_id: string; attempt: number },
): AttemptReport {
  return { state: 'running', pid: 1, started_at: Date.now(), exit: null, finished_at: null, ...report };
}
