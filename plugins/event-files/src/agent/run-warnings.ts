import type { AgentPluginContext } from '@svc/agent';
import type { ReportingAttempt } from '@svc/agent/job-files-collector';
import type { SpoolRecord } from '@svc/contract';
import { MAX_NAMES } from './metric-names.js';

/** What a run is told of its event files, each warning once for each attempt. They wait here until they are in the spool. */
export class RunWarnings {
  readonly #told = new Set<string>();
  #waiting: SpoolRecord[] = [];

  constructor(
    private readonly owner: string,
    private readonly attempt: Pick<ReportingAttempt, 'job_id' | 'attempt' | 'runId'>,
    private readonly log: AgentPluginContext['log'],
  ) {}

  get waiting(): readonly SpoolRecord[] {
    return this.#waiting;
  }

  left(warnings: readonly SpoolRecord[]): void {
    this.#waiting = this.#waiting.filter((warning) => !warnings.includes(warning));
  }

  tooManyFiles(file: string, most: number): void {
    const message = `${file} and others are not read. \`svc import\` takes the folder after the job.`;
    this.#warn('files', `There are more than ${most} event files`, message);
  }

  unread(bytes: number): void {
    const title = 'Event files were not read to their end';
    const message = `The last ${bytes} bytes were not read when the job had ended, as that took too long. They are still on the host: \`svc import\` takes the folder.`;
    this.#warn('rest', title, message);
  }

  unproven(file: string): void {
    const title = 'An event file is left out: it cannot be told which of the jobs in its folder wrote it';
    const message = `${file}: run each job in a folder of its own (\`svc submit --upload\` makes one), or report with the SDK.`;
    this.#warn('left out', title, message);
  }

  corrupt(file: string): void {
    const title = 'An event file has records that cannot be read';
    const message = `${file}: its other records are read. Such records are left out, here and in other files of this attempt. The agent's log tells their number at the end.`;
    this.#warn('corrupt', title, message);
  }

  scalars(file: string): void {
    const title = 'Some scalars of event files are left out';
    const message = `${file}: a name has at most 250 characters and no control characters, a step is an integer below 2^53, and a run has at most ${MAX_NAMES} metrics. The agent's log tells their number at the end.`;
    this.#warn('scalars', title, message);
  }

  noise(file: string, bytes: number): void {
    const title = 'An event file is given up';
    const message = `${file}: it holds ${bytes} bytes without one valid record, and is not read any further. Nor is any other such file of this attempt.`;
    this.#warn('noise', title, message);
  }

  #warn(name: string, title: string, message: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    const { job_id, attempt, runId: run_id } = this.attempt;
    this.log.warn(title, { job_id, attempt, message });
    const key = `${this.owner} ${attempt} ${name}`;
    const body = { title, message, severity: 'warning' as const };
    this.#waiting.push({ kind: 'event', run_id, key, ts: Date.now(), body });
  }
}
