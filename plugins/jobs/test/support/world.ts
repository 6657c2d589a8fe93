import type { AttemptReport, Exit, FrameOf, ServerFrame } from '@svc/contract';
import { FakeAgent, toReport, virtualSlots, type Lab } from './lab.js';

const SIGTERM_DEATH: Exit = { kind: 'signaled', signal: 'SIGTERM', code: -15 };

type Dispatch = FrameOf<ServerFrame, 'dispatch'>;

/** What is really the case on a host: one process, whatever the server believes. */
interface Process {
  readonly dispatch: Dispatch;
  state: 'accepted' | 'cleared' | 'running' | 'ended';
  exit: Exit | null;
  /** SIGTERM has been sent; it dies when the test says. */
  isStopping: boolean;
}

/** A host with an agent that keeps to the protocol, at a pace that the test sets. */
export class Host {
  readonly processes = new Map<string, Process>();
  readonly ended: { job_id: string; attempt: number; exit: Exit }[] = [];
  #agent: FakeAgent | null = null;
  #seen = 0;
  #secret: string | null = null;

  constructor(
    private readonly lab: Lab,
    readonly nodeId: string,
    readonly slotCount: number,
  ) {}

  get isOnline(): boolean {
    return this.#agent !== null && this.#agent.closed === null;
  }

  async connect(): Promise<void> {
    if (this.isOnline) return;
    const agent = new FakeAgent({
      url: this.lab.kernel.url,
      hello: {
        node_id: this.nodeId,
        name: this.nodeId.slice(-4),
        slots: virtualSlots(this.slotCount),
        max_cpu_jobs: 1,
      },
    });
    agent.secret = this.#secret;
    this.#agent = agent;
    this.#seen = 0;
    const welcome = await agent.connect({ attempts: [...this.processes.values()].map(toAttemptReport) });
    this.#secret = agent.secret;
    for (const { verdict, ...key } of welcome.verdicts) {
      if (verdict === 'keep') this.#clear(`${key.job_id}/${key.attempt}`);
      if (verdict === 'stop') this.#stop(`${key.job_id}/${key.attempt}`);
      if (verdict === 'forget') this.processes.delete(`${key.job_id}/${key.attempt}`);
    }
  }

  cut(): void {
    this.#agent?.cut();
    this.#agent = null;
  }

  /** The host dies: its processes and its disk are gone. */
  wipe(): void {
    this.cut();
    for (const { dispatch } of this.processes.values())
      this.#note(dispatch, { kind: 'lost', reason: 'wiped' });
    this.processes.clear();
  }

  /** Reads what the server has sent, and does it. */
  readFrames(): void {
    const agent = this.#agent;
    if (!agent) return;
    for (const frame of agent.frames.slice(this.#seen)) {
      this.#seen++;
      if (frame.type === 'dispatch') this.#accept(frame);
      if (frame.type === 'start') this.#clear(`${frame.job_id}/${frame.attempt}`);
      if (frame.type === 'stop') this.#stop(`${frame.job_id}/${frame.attempt}`);
      if (frame.type === 'forget') this.processes.delete(`${frame.job_id}/${frame.attempt}`);
    }
  }

  /** The next process that the server has cleared starts. */
  startOne(): void {
    const next = [...this.processes.values()].find(({ state }) => state === 'cleared');
    if (!next) return;
    next.state = 'running';
    this.#agent?.running(next.dispatch);
  }

  /** The oldest running process ends. */
  endOne(exit: Exit): void {
    const next = [...this.processes.values()].find(({ state }) => state === 'running');
    if (next) this.#end(next, exit);
  }

  /** What was stopped dies. */
  killStopped(): void {
    for (const process of this.processes.values()) {
      if (process.isStopping && process.state !== 'ended') this.#end(process, SIGTERM_DEATH);
    }
  }

  /** GPUs in real use. */
  gpusInUse(): number[] {
    return [...this.processes.values()]
      .filter(({ state }) => state === 'running')
      .flatMap(({ dispatch }) => dispatch.gpu_indices);
  }

  async close(): Promise<void> {
    await this.#agent?.close();
  }

  #accept(dispatch: Dispatch): void {
    const key = `${dispatch.job_id}/${dispatch.attempt}`;
    if (!this.processes.has(key))
      this.processes.set(key, { dispatch, state: 'accepted', exit: null, isStopping: false });
    this.#agent?.accept(dispatch);
  }

  #clear(key: string): void {
    const known = this.processes.get(key);
    if (known?.state === 'accepted' && !known.isStopping) known.state = 'cleared';
  }

  #stop(key: string): void {
    const known = this.processes.get(key);
    if (!known) {
      const [job_id = '', attempt = ''] = key.split('/');
      this.#agent?.ended({ job_id, attempt: Number(attempt) }, { kind: 'lost', reason: 'no such attempt' });
    } else if (known.state === 'ended') {
      this.#report(known);
    } else {
      known.isStopping = true;
    }
  }

  #end(process: Process, exit: Exit): void {
    const neverStarted: Exit = { kind: 'lost', reason: 'stopped before it started' };
    process.exit = process.state === 'running' ? exit : neverStarted;
    process.state = 'ended';
    this.#note(process.dispatch, process.exit);
    this.#report(process);
  }

  #report(process: Process): void {
    this.#agent?.send({ type: 'attempt', ...toAttemptReport(process) });
  }

  #note({ job_id, attempt }: Dispatch, exit: Exit): void {
    this.ended.push({ job_id, attempt, exit });
  }
}

function toAttemptReport({ dispatch, state, exit }: Process): AttemptReport {
  return toReport(dispatch, { state: state === 'cleared' ? 'running' : state, exit });
}
