import {
  JOB_STATUSES,
  type Diagnosis,
  type Evaluation,
  type EventRecord,
  type Experiment,
  type FailureExplanation,
  type Job,
  type JobAttempt,
  type JobStatus,
  type ListedCheckpoint,
  type LogLine,
  type MetricDefinition,
  type MetricSummary,
  type NodeRecord,
  type Project,
  type Run,
  type RunSummary,
  type Series,
} from '@svc/contract';
import type { ApiTable } from './fake-api.js';
import { DOCKER, PROCESS } from './runners.js';

// Complete records, of which a test names what matters to it.

const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const NOW = Date.now();
/** As long as names may be, without a place to break. */
export const LONG_NAME = 'a_very_long_name_without_a_place_to_break_'.repeat(5).slice(0, 200);
/** Markup, and a character that turns the direction of all that follows it. */
export const HOSTILE = '<img src=x onerror="window.hacked = true">&lt;b&gt;\u202e';

/** `idOf('job', 7)`: `job_` and 26 characters, ordered as the numbers. */
export function idOf(kind: string, number: number): string {
  return `${kind}_${String(number).padStart(26, '0')}`;
}

export function job(number: number, changes: Partial<Job> = {}): Job {
  const created_at = NOW - 60 * MINUTE + number * SECOND;
  return {
    id: idOf('job', number),
    name: `job-${number}`,
    type: 'TRAIN',
    command: ['python', 'train.py'],
    working_dir: null,
    snapshot: null,
    runner: 'process',
    image: null,
    runner_options: {},
    resources: { gpu: 1, cpu_only: false },
    priority: 0,
    project: null,
    experiment: null,
    project_id: null,
    experiment_id: null,
    env: {},
    node_selector: {},
    max_attempts: 1,
    attempt: 1,
    status: 'RUNNING',
    pending_reason: null,
    exit_code: null,
    failure_reason: null,
    failure_message: null,
    run_id: null,
    checkpoint_id: null,
    evaluation_id: null,
    node_id: null,
    gpu_indices: [],
    created_at,
    queued_at: created_at,
    dispatched_at: null,
    started_at: created_at,
    finished_at: null,
    ...changes,
  };
}

export function attempt(number: number, changes: Partial<JobAttempt> = {}): JobAttempt {
  return {
    attempt: number,
    status: 'FAILED',
    node_id: idOf('node', 1),
    run_id: null,
    exit_code: null,
    failure_reason: null,
    failure_message: null,
    started_at: NOW - 60 * MINUTE,
    finished_at: NOW - 50 * MINUTE,
    ...changes,
  };
}

export function run(number: number, changes: Partial<Run> = {}): Run {
  const created_at = NOW - 60 * MINUTE + number * SECOND;
  return {
    id: idOf('run', number),
    name: `run-${number}`,
    project_id: null,
    experiment_id: null,
    job_id: null,
    attempt: null,
    source: 'sdk',
    status: 'RUNNING',
    step: null,
    epoch: null,
    max_steps: null,
    config: {},
    environment: {},
    tags: [],
    notes: '',
    created_at,
    started_at: created_at,
    finished_at: null,
    stale_since: null,
    ...changes,
  };
}

export function metric(changes: Partial<MetricSummary> = {}): MetricSummary {
  return {
    latest: { value: 0.25, step: 90, ts: NOW },
    best: { value: 0.125, step: 40 },
    trend: 'stable',
    direction: 'minimize',
    guessed: true,
    guessed_from: 'loss',
    is_primary: false,
    count: 2,
    ...changes,
  };
}

export function summary(
  of: Run,
  metrics: RunSummary['metrics'] = {},
  changes: Partial<RunSummary> = {},
): RunSummary {
  const { id: run_id, status, step, epoch, max_steps } = of;
  const health = { status: 'ok' as const, reasons: [] };
  return { run_id, status, step, epoch, max_steps, progress: null, health, metrics, ...changes };
}

export function series(values: readonly Series['values'][number][], changes: Partial<Series> = {}): Series {
  return {
    steps: values.map((_, at) => at * 10),
    values: [...values],
    ts: values.map((_, at) => NOW - MINUTE + at),
    total: values.length,
    downsampled: false,
    ...changes,
  };
}

export function definition(name: string, changes: Partial<MetricDefinition> = {}): MetricDefinition {
  return {
    name,
    direction: 'minimize',
    guessed: true,
    guessed_from: 'loss',
    is_primary: false,
    level: 'global',
    project_id: null,
    experiment_id: null,
    auto: true,
    unit: null,
    description: '',
    ...changes,
  };
}

export function event(number: number, changes: Partial<EventRecord> = {}): EventRecord {
  return {
    id: idOf('evt', number),
    type: 'CUSTOM',
    severity: 'info',
    title: `event-${number}`,
    message: '',
    run_id: null,
    job_id: null,
    node_id: null,
    data: {},
    created_at: NOW - 60 * MINUTE + number * SECOND,
    ...changes,
  };
}

export function failure(changes: Partial<FailureExplanation> = {}): FailureExplanation {
  return {
    run_id: null,
    job_id: idOf('job', 1),
    attempt: 1,
    status: 'FAILED',
    exit_code: 1,
    failure_reason: 'EXIT_CODE',
    failure_message: null,
    summary: 'No rule explains it.',
    rule: null,
    likely_cause: null,
    confidence: null,
    evidence: [],
    suggested_fixes: [],
    causes: [],
    traceback: null,
    last_errors: [],
    next_actions: [],
    ...changes,
  };
}

export function slot(
  index: number,
  changes: Partial<NodeRecord['slots'][number]> = {},
): NodeRecord['slots'][number] {
  return {
    index,
    uuid: `GPU-${index}`,
    model: 'NVIDIA H100',
    memory_total_mb: 81_920,
    virtual: false,
    health: { state: 'ok', reason: null, since: null },
    busy: false,
    job_id: null,
    utilization: null,
    memory_used_mb: null,
    temperature_c: null,
    power_w: null,
    sm_clock_mhz: null,
    mem_clock_mhz: null,
    processes: [],
    ...changes,
  };
}

export function node(number: number, changes: Partial<NodeRecord> = {}): NodeRecord {
  return {
    id: idOf('node', number),
    name: `node-${number}`,
    hostname: `host-${number}`,
    status: 'ONLINE',
    version: '0.1.0',
    labels: {},
    runners: [{ name: 'process', available: true, reason: null, version: null }],
    slots: [slot(0), slot(1)],
    cpu_jobs: 0,
    max_cpu_jobs: 4,
    busy: false,
    system: { cpu_count: 16, ram_total_mb: 131_072 },
    live: null,
    last_heartbeat_at: NOW,
    connected_at: NOW - MINUTE,
    created_at: NOW - 60 * MINUTE,
    ...changes,
  };
}

export function checkpoint(number: number, changes: Partial<ListedCheckpoint> = {}): ListedCheckpoint {
  return {
    id: idOf('ckpt', number),
    run_id: idOf('run', 1),
    step: number * 100,
    epoch: null,
    size: 1536,
    path: `/out/checkpoint-${number}`,
    metadata: { evaluations: [] },
    source: 'sdk',
    deleted_at: null,
    is_best: false,
    created_at: NOW - 5 * MINUTE,
    ...changes,
  };
}

export function evaluation(number: number, changes: Partial<Evaluation> = {}): Evaluation {
  return {
    id: idOf('eval', number),
    checkpoint_id: idOf('ckpt', 1),
    run_id: idOf('run', 1),
    job_id: idOf('job', number),
    suite: 'heldout',
    dataset: null,
    dataset_version: null,
    status: 'SUCCEEDED',
    metrics: { 'eval/acc': 0.91 },
    runtime_s: 12.5,
    error: null,
    created_at: NOW - 5 * MINUTE + number,
    finished_at: NOW - MINUTE,
    ...changes,
  };
}

/** Of a run that goes well. */
export function diagnosis(changes: Partial<Diagnosis> = {}): Diagnosis {
  return {
    run_id: idOf('run', 1),
    job_id: null,
    attempt: null,
    status: 'RUNNING',
    summary: 'The run is running at step 90.',
    progress: { step: 90, max_steps: null, epoch: null, fraction: null, steps_per_s: 2, time_left: null },
    convergence: {
      metric: 'loss',
      is_primary: true,
      direction: 'minimize',
      best: 0.125,
      best_step: 40,
      latest: 0.25,
      latest_step: 90,
      trend: 'decreasing',
      is_improving: true,
      is_stalled: false,
      eval_best: null,
      eval_best_step: null,
      eval_protocol: null,
    },
    anomalies: [],
    health: { status: 'ok', reasons: [] },
    health_warnings: [],
    throughput: null,
    gpu: null,
    last_point_at: NOW,
    since_last_point_s: 1,
    last_errors: [],
    next_actions: [],
    ...changes,
  };
}

export function project(number: number, changes: Partial<Project> = {}): Project {
  const created_at = NOW - 60 * MINUTE + number * SECOND;
  return {
    id: idOf('prj', number),
    name: `project-${number}`,
    description: '',
    run_count: 3,
    created_at,
    ...changes,
  };
}

export function experiment(number: number, changes: Partial<Experiment> = {}): Experiment {
  const created_at = NOW - 60 * MINUTE + number * SECOND;
  return {
    id: idOf('exp', number),
    name: `experiment-${number}`,
    description: '',
    project_id: idOf('prj', 1),
    run_count: 2,
    created_at,
    ...changes,
  };
}

export function line(seq: number, text: string, stream: LogLine['stream'] = 'stdout'): LogLine {
  return { seq, stream, ts: NOW - MINUTE + seq, text };
}

export function status(
  jobs: Partial<Record<JobStatus, number>> = {},
  nodes = { total: 1, online: 1 },
  running: Job[] = [],
) {
  const counts = Object.fromEntries(JOB_STATUSES.map((name) => [name, jobs[name] ?? 0]));
  return { nodes, jobs: counts, running };
}

/** A server with nothing in it. */
export const EMPTY_SERVER: ApiTable = {
  'GET /extensions.json': { pages: [], run_tabs: [] },
  'GET /health': { status: 'ok', version: '0.1.0', uptime_s: 60 },
  'GET /auth/whoami': { name: 'me', scope: 'write', can_write: true },
  'GET /status': status(),
  'GET /jobs': { items: [], next_before: null },
  'GET /runs': { items: [] },
  'GET /events': { items: [] },
  'GET /nodes': { items: [] },
  'GET /metric-definitions': { items: [] },
  'GET /projects': { items: [] },
  'GET /experiments': { items: [] },
  'GET /checkpoints': { items: [] },
  'GET /evaluations': { items: [] },
  'GET /tokens': { items: [] },
  'GET /runners': { items: [PROCESS, DOCKER] },
};
