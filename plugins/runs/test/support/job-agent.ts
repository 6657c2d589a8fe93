import { FakeAgent, until, virtualSlots } from '@svc/agent/testing';
import { newId, type AttemptReport, type Exit, type FrameOf, type ServerFrame } from '@svc/contract';

type Dispatch = FrameOf<ServerFrame, 'dispatch'>;
type Reported = Partial<AttemptReport> & { job_id: string; attempt: number };

/** An agent of two virtual GPUs, spoken to by jobs: their first attempt unless told otherwise. */
export class JobAgent extends FakeAgent {
  constructor(url: string, token: string) {
    const node_id = newId('node');
    super({ url, token, hello: { node_id, name: node_id, slots: virtualSlots(2), max_cpu_jobs: 1000 } });
  }

  /** The first dispatch of the attempt; may be asked for again. */
  dispatchOf(jobId: string, attempt = 1): Promise<Dispatch> {
    const isIt = (frame: ServerFrame): frame is Dispatch =>
      frame.type === 'dispatch' && frame.job_id === jobId && frame.attempt === attempt;
    return until(() => this.frames.find(isIt), 'a dispatch');
  }

  /** Accepts what was dispatched and reports its process as running. */
  async startJob(jobId: string, attempt = 1): Promise<Dispatch> {
    const dispatch = await this.dispatchOf(jobId, attempt);
    this.accept(dispatch);
    this.running(dispatch, { started_at: Date.now() });
    return dispatch;
  }

  report({ job_id, attempt, ...report }: Reported): void {
    this.running({ job_id, attempt }, { started_at: Date.now(), ...report });
  }

  end(jobId: string, exit: Exit = { kind: 'exited', code: 0 }, attempt = 1): void {
    this.ended({ job_id: jobId, attempt }, exit, { started_at: Date.now(), finished_at: Date.now() });
  }
}
