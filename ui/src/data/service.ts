import type { Job, JobStatus } from '@svc/contract';
import type { Api } from './api.js';

export interface ServiceStatus {
  nodes: { total: number; online: number };
  jobs: Record<JobStatus, number>;
  running: Job[];
}

export function getStatus(api: Api, signal?: AbortSignal): Promise<ServiceStatus> {
  return api.get<ServiceStatus>('/status', {}, signal);
}
