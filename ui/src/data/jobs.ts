import type {
  AnswerOf,
  Job,
  JobAttempt,
  JobStatus,
  JobSubmit,
  LogLine,
  LogStream,
  PartialLine,
  routes,
  Run,
} from '@svc/contract';
import { JOB_STATUSES } from '@svc/contract/protocol';
import { endpoint, type Api } from './api.js';
import type { StreamListener } from './live-stream.js';

export type { Job, JobAttempt, JobStatus, LogLine, LogStream, PartialLine };

const GET = endpoint<typeof routes.getJob>('GET', '/jobs/{job_id}');
const RUNS = endpoint<typeof routes.listJobRuns>('GET', '/jobs/{job_id}/runs');
const ATTEMPTS = endpoint<typeof routes.listJobAttempts>('GET', '/jobs/{job_id}/attempts');
const SUBMIT = endpoint<typeof routes.submitJob>('POST', '/jobs');
const CANCEL = endpoint<typeof routes.cancelJob>('POST', '/jobs/{job_id}/cancel');
const RETRY = endpoint<typeof routes.retryJob>('POST', '/jobs/{job_id}/retry');
const TAIL = endpoint<typeof routes.tailLogs>('GET', '/jobs/{job_id}/logs');
const STREAM = endpoint<typeof routes.streamLogs>('GET', '/jobs/{job_id}/logs/stream');
const DOWNLOAD = endpoint<typeof routes.downloadLogs>('GET', '/jobs/{job_id}/logs/download');

export type LogTail = AnswerOf<typeof routes.tailLogs>['body'];

export interface JobFilter {
  readonly status: JobStatus | null;
  /** Words of the name, or the beginning or end of the id. */
  readonly q: string | null;
  readonly project_id: string | null;
  readonly node_id: string | null;
}

/** The filter in a page's address. */
export function jobFilterOf(query: URLSearchParams): JobFilter {
  return {
    status: JOB_STATUSES.find((status) => status === query.get('status')) ?? null,
    q: query.get('q'),
    project_id: query.get('project_id'),
    node_id: query.get('node_id'),
  };
}

/** Whether a job of the list still belongs to it: of all that a filter names, name and id alone never change. */
export function isJobWanted(job: Job, { q: _q, ...filter }: JobFilter): boolean {
  return (Object.keys(filter) as (keyof typeof filter)[]).every(
    (key) => !filter[key] || job[key] === filter[key],
  );
}

export function getJob(api: Api, jobId: string, signal?: AbortSignal): Promise<Job> {
  return api.call(GET, { params: { job_id: jobId }, signal });
}

export async function listJobRuns(api: Api, jobId: string, signal?: AbortSignal): Promise<Run[]> {
  return (await api.call(RUNS, { params: { job_id: jobId }, signal })).items;
}

/** Newest first. */
export async function listJobAttempts(api: Api, jobId: string, signal?: AbortSignal): Promise<JobAttempt[]> {
  return (await api.call(ATTEMPTS, { params: { job_id: jobId }, query: { limit: 1000 }, signal })).items;
}

/** The key makes a repeat of the same request answer with the job that was made first. */
export function submitJob(api: Api, body: JobSubmit, key: string): Promise<Job> {
  return api.call(SUBMIT, { body, headers: { 'Idempotency-Key': key } });
}

export function cancelJob(api: Api, jobId: string) {
  return api.call(CANCEL, { params: { job_id: jobId } });
}

export function retryJob(api: Api, jobId: string): Promise<Job> {
  return api.call(RETRY, { params: { job_id: jobId } });
}

export const MAX_TAIL = 2000;

export function tailLog(api: Api, jobId: string, attempt: number, signal?: AbortSignal): Promise<LogTail> {
  return api.call(TAIL, { params: { job_id: jobId }, query: { attempt, tail: MAX_TAIL }, signal });
}

export interface LogRange {
  /** The seq of the first line. */
  readonly from: number;
  /** How many lines at most. */
  readonly tail: number;
  /** null: both. */
  readonly stream: LogStream | null;
}

/** The lines from one on, wherever they stand in the log. */
export function readLog(
  api: Api,
  jobId: string,
  attempt: number,
  range: LogRange,
  signal?: AbortSignal,
): Promise<LogTail> {
  return api.call(TAIL, { params: { job_id: jobId }, query: { attempt, ...range }, signal });
}

/** The whole log, some lines at a time as they arrive. */
export async function* downloadLogLines(
  api: Api,
  jobId: string,
  attempt: number,
  stream: LogStream | null,
  signal: AbortSignal,
): AsyncGenerator<LogLine[]> {
  const query = { attempt, stream, format: 'jsonl' as const };
  for await (const lines of api.downloadLines(DOWNLOAD, { params: { job_id: jobId }, query, signal }))
    yield lines.map((line) => JSON.parse(line) as LogLine);
}

/** Live lines after `afterSeq`; null starts with the recent tail. */
export function streamLog(
  api: Api,
  jobId: string,
  attempt: number,
  afterSeq: number | null,
  listener: StreamListener,
): () => void {
  const input = { params: { job_id: jobId }, query: { attempt, tail: MAX_TAIL } };
  return api.stream(STREAM, input, listener, afterSeq === null ? null : String(afterSeq));
}

export function downloadLog(api: Api, jobId: string, attempt: number): Promise<Blob> {
  return api.download(DOWNLOAD, { params: { job_id: jobId }, query: { attempt } });
}
