import type { Evidence, FailureExplanation, Job, JobAttempt, LogLine } from '@svc/contract';
import { explainAttempt } from '../../src/explain.js';
import { FAILURE_RULES } from '../../src/rules/index.js';

export const JOB = {
  id: 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ',
  command: ['python3', 'train.py', '--lr', '0.1'],
  working_dir: '/data/vision',
  resources: { gpu: 2, cpu_only: false },
  project: 'vision',
  snapshot: null,
  checkpoint_id: null,
  env: {},
  runner: 'process',
  image: null,
  runner_options: {},
  node_selector: {},
  attempt: 1,
  status: 'FAILED',
} as unknown as Job;

const ATTEMPT: JobAttempt = {
  attempt: 1,
  status: 'FAILED',
  node_id: null,
  run_id: null,
  exit_code: 1,
  failure_reason: 'EXIT_CODE',
  failure_message: 'exited with code 1',
  started_at: 1,
  finished_at: 2,
};

export type AttemptEvidence = Evidence['attempt'];

/** A failed attempt with that text as its log. */
export function evidenceOf(
  text: string,
  attempt: Partial<JobAttempt> = {},
  more: Partial<AttemptEvidence> = {},
): AttemptEvidence {
  return {
    job: JOB,
    attempt: { ...ATTEMPT, ...attempt },
    lines: linesOf(text),
    events: [],
    summary: null,
    ...more,
  };
}

export function linesOf(text: string): LogLine[] {
  const texts = text.replace(/\n$/, '').split('\n');
  return texts.map((each, seq) => ({ seq, stream: 'stderr', ts: 1, text: each }));
}

export function explain(evidence: AttemptEvidence): FailureExplanation {
  const warn = (details: unknown) => {
    throw new Error(JSON.stringify(details));
  };
  return explainAttempt(evidence, evidence.lines, FAILURE_RULES, { warn } as never);
}
