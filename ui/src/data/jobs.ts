import type { Job, JobAttempt, JobStatus, LogLine, Run } from '@svc/contract';
import type { Api } from './api.js';
import type { StreamListener } from './sse.js';

export type { Job, JobAttempt, JobStatus, LogLine };

export interface JobPage {
  items: Job[];
  next_before: number | null;
}

export interface JobFilter {
  status?: JobStatus | null;
  before?: number | null;
  limit?: number;
}

export interface LogTail {
  job_id: string;
  attempt: number;
  lines: LogLine[];
  dropped: number;
}

export function listJobs(api: Api, filter: JobFilter, signal?: AbortSignal): Promise<JobPage> {
  return api.get<JobPage>('/jobs', { ...filter }, signal);
}

export function getJob(api: Api, jobId: string, signal?: AbortSignal): Promise<Job> {
  return api.get<Job>(jobPath(jobId), {}, signal);
}

export async function listJobRuns(api: Api, jobId: string, signal?: AbortSignal): Promise<Run[]> {
  return (await api.get<{ items: Run[] }>(`${jobPath(jobId)}/runs`, {}, signal)).items;
}

/** Newest first. */
export async function listJobAttempts(api: Api, jobId: string, signal?: AbortSignal): Promise<JobAttempt[]> {
  return (await api.get<{ items: JobAttempt[] }>(`${jobPath(jobId)}/attempts`, { limit: 1000 }, signal))
    .items;
}

export async function cancelJob(api: Api, jobId: string): Promise<'CANCELLED' | 'cancel-requested'> {
  return (await api.post<{ result: 'CANCELLED' | 'cancel-requested' }>(`${jobPath(jobId)}/cancel`)).result;
}

export function retryJob(api: Api, jobId: string): Promise<Job> {
  return api.post<Job>(`${jobPath(jobId)}/retry`);
}

export const MAX_TAIL = 2000;

export function tailLog(api: Api, jobId: string, attempt: number, signal?: AbortSignal): Promise<LogTail> {
  return api.get<LogTail>(`${jobPath(jobId)}/logs`, { attempt, tail: MAX_TAIL }, signal);
}

/** Live lines after `afterSeq`; null starts with the recent tail. */
export function streamLog(
  api: Api,
  jobId: string,
  attempt: number,
  afterSeq: number | null,
  listener: StreamListener,
): () => void {
  const lastEventId = afterSeq === null ? undefined : String(afterSeq);
  return api.stream(`${jobPath(jobId)}/logs/stream`, { attempt, tail: MAX_TAIL }, listener, lastEventId);
}

export function downloadLog(api: Api, jobId: string, attempt: number): Promise<Blob> {
  return api.download(`${jobPath(jobId)}/logs/download`, { attempt });
}

function jobPath(jobId: string): string {
  return `/jobs/${encodeURIComponent(jobId)}`;
}
