import type { AttemptKey } from '@svc/contract';
import path from 'node:path';
import { EXIT_FILE } from './attempt-end.js';

/** Its presence says that the server has all of the attempt. */
export const RELEASED_FILE = 'forgotten.json';

/** The files of one attempt: `<state dir>/jobs/{job_id}/attempt-{n}/`. */
export interface RunPaths {
  readonly dir: string;
  /** What was accepted, durable before `accepted` is said. */
  readonly plan: string;
  /** What the runner needs to find the attempt again. There from just before the start. */
  readonly state: string;
  /** For people and for the job itself. */
  readonly runtime: string;
  readonly exit: string;
  /** There once the server has the end, the whole log and what was spooled. */
  readonly released: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Where an evaluation leaves its result, unless its job says otherwise. */
  readonly result: string;
  readonly work: string;
  /** What its processes could not report themselves; theirs to write, ours to deliver. */
  readonly spool: string;
  /** How far each spool file is delivered. */
  readonly spoolMarks: string;
  /** Spooled records that the server refused, with the reason. */
  readonly refused: string;
}

export function toRunPaths(jobsDir: string, { job_id, attempt }: AttemptKey): RunPaths {
  const dir = path.join(jobsDir, job_id, `attempt-${attempt}`);
  const at = (name: string) => path.join(dir, name);
  return {
    dir,
    plan: at('plan.json'),
    state: at('state.json'),
    runtime: at('runtime.json'),
    exit: at(EXIT_FILE),
    released: at(RELEASED_FILE),
    stdout: at('stdout'),
    stderr: at('stderr'),
    result: at('eval_result.json'),
    work: at('work'),
    spool: at('spool'),
    spoolMarks: at('spool.json'),
    refused: at('refused.jsonl'),
  };
}
