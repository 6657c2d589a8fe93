import { routes, type EventRecord, type Job, type LogStream, type NodeRecord, type Run } from '@svc/contract';
import type { Client } from '@svc/client';
import { listMarked } from '../support/processes.js';
import type { Submitted } from './submissions.js';

const METRIC = 'number';

/** An event of a job; its data name the attempt, and at its end how that ended. */
export type ToldEvent = Omit<EventRecord, 'data'> & { readonly data: Readonly<Record<string, unknown>> };

/** What the server says of one attempt. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly log: Readonly<Record<LogStream, string>>;
  readonly run: Run | null;
  /** Step and value of each stored point, by step. */
  readonly points: readonly (readonly [step: number, value: number])[];
}

export interface JobRecord {
  readonly submitted: Submitted;
  readonly job: Job;
  /** Oldest first. */
  readonly events: readonly ToldEvent[];
  readonly attempts: readonly AttemptRecord[];
}

export interface WorldRecord {
  readonly jobs: readonly JobRecord[];
  readonly nodes: readonly NodeRecord[];
  /** Processes that still carry the mark of one of the jobs: pid and job. */
  readonly survivors: readonly { readonly pid: number; readonly job: string }[];
  /** How many jobs the server has under each name of the round. */
  readonly doubles: readonly string[];
}

export async function readRecord(client: Client, submitted: readonly Submitted[]): Promise<WorldRecord> {
  const jobs: JobRecord[] = [];
  for (const each of submitted) jobs.push(await readJob(client, each));
  const { items: nodes } = await client.call(routes.listNodes);
  return { jobs, nodes, survivors: listSurvivors(submitted), doubles: await listDoubles(client, submitted) };
}

export function listSurvivors(submitted: readonly Submitted[]): WorldRecord['survivors'] {
  const ids = new Set(submitted.map(({ id }) => id));
  return listMarked('SVC_JOB_ID')
    .filter(({ value }) => ids.has(value))
    .map(({ pid, value }) => ({ pid, job: value }));
}

/** Jobs that nobody submitted: a repeated submit that made a second one. */
async function listDoubles(client: Client, submitted: readonly Submitted[]): Promise<string[]> {
  const ids = new Set(submitted.map(({ id }) => id));
  const oldest = [...ids].sort()[0] ?? '';
  const { items } = await client.call(routes.listJobs, { query: { limit: 1000 } });
  return items.filter(({ id }) => id > oldest && !ids.has(id)).map(({ id, name }) => `${name} ${id}`);
}

async function readJob(client: Client, submitted: Submitted): Promise<JobRecord> {
  const params = { job_id: submitted.id };
  const job = await client.call(routes.getJob, { params });
  const { items: events } = await client.call(routes.listEvents, { query: { ...params, limit: 1000 } });
  const { items: runs } = await client.call(routes.listJobRuns, { params });
  const attempts: AttemptRecord[] = [];
  for (let attempt = 1; attempt <= job.attempt; attempt += 1) {
    const run = runs.find((candidate) => candidate.attempt === attempt) ?? null;
    const log = {
      stdout: await readLog(client, submitted.id, attempt, 'stdout'),
      stderr: await readLog(client, submitted.id, attempt, 'stderr'),
    };
    attempts.push({ attempt, log, run, points: run === null ? [] : await readPoints(client, run.id) });
  }
  return { submitted, job, events: [...events].reverse() as ToldEvent[], attempts };
}

async function readLog(client: Client, job_id: string, attempt: number, stream: LogStream): Promise<string> {
  const answer = await client.open(routes.downloadLogs, { params: { job_id }, query: { attempt, stream } });
  return answer.text();
}

async function readPoints(client: Client, run_id: string): Promise<AttemptRecord['points']> {
  const { series } = await client.call(routes.readSeries, { params: { run_id }, query: { limit: 10_000 } });
  const { steps = [], values = [] } = series[METRIC] ?? {};
  return steps.map((step, index) => [step, Number(values[index])] as const);
}
