import type { JobSubmit } from '@svc/contract';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../support/program.js';
import type { Random } from './random.js';

const WORKER = fileURLToPath(new URL('./worker.py', import.meta.url));
const SUBMIT_WITHIN_MS = 2500;

/** What worker.py takes. */
export interface WorkerPlan {
  readonly steps: number;
  readonly step_s: number;
  readonly lines_per_step: number;
  readonly points_per_step: number;
  readonly partial_last_line: boolean;
  readonly ignores_term: boolean;
  readonly grandchild: 'setsid' | 'double-fork' | null;
  readonly grandchild_s: number;
  /** Its exit code; below 0: the signal that it ends itself with. */
  readonly exit: number;
}

/** One job of a round. Times in ms since the round began. */
export interface PlannedJob {
  readonly name: string;
  readonly submitAtMs: number;
  readonly cancelAtMs: number | null;
  readonly gpu: number;
  readonly maxAttempts: number;
  readonly priority: number;
  readonly worker: WorkerPlan;
}

export function planWorkload(random: Random): PlannedJob[] {
  return Array.from({ length: random.integer(9, 13) }, (_, index) => planJob(random, index));
}

function planJob(random: Random, index: number): PlannedJob {
  const worker = planWorker(random);
  const submitAtMs = random.integer(0, SUBMIT_WITHIN_MS);
  const isCancelled = random.chance(0.25);
  return {
    name: `job-${index}`,
    submitAtMs,
    cancelAtMs: isCancelled ? submitAtMs + random.integer(0, 1500) : null,
    gpu: random.pick([0, 0, 1, 1, 1, 2]),
    maxAttempts: random.pick([1, 1, 2, 3]),
    priority: random.integer(-1, 1),
    worker,
  };
}

function planWorker(random: Random): WorkerPlan {
  const isLong = random.chance(0.5);
  const isLoud = random.chance(0.15);
  return {
    steps: isLong ? random.integer(8, 16) : random.integer(0, 4),
    step_s: random.pick([0.05, 0.1, 0.15]),
    lines_per_step: isLoud ? 400 : random.integer(0, 20),
    points_per_step: random.chance(0.4) ? random.integer(1, 30) : 0,
    partial_last_line: random.chance(0.3),
    ignores_term: random.chance(0.2),
    grandchild: random.chance(0.2) ? random.pick(['setsid', 'double-fork'] as const) : null,
    grandchild_s: 120,
    exit: random.pick([0, 0, 0, 0, 1, 3, 137, -9, -11, -15]),
  };
}

/** `python`: its program; `journal`: the file that its processes write to. */
export function toSubmit(job: PlannedJob, python: string, journal: string): JobSubmit {
  const plan = { ...job.worker, journal, sdk: `${ROOT}sdk/python` };
  return {
    name: job.name,
    command: [python, '-S', WORKER, JSON.stringify(plan)],
    resources: { gpu: job.gpu, cpu_only: job.gpu === 0 },
    priority: job.priority,
    max_attempts: job.maxAttempts,
    env: { SVC_FLUSH_TIMEOUT_S: '30', SVC_QUIET: '1', PYTHONPYCACHEPREFIX: `${journal}.pycache` },
  };
}
