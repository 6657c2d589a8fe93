import type { AnswerOf, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type ServiceStatus = AnswerOf<typeof routes.getStatus>['body'];

const HEALTH = endpoint<typeof routes.getHealth>('GET', '/health');
const STATUS = endpoint<typeof routes.getStatus>('GET', '/status');

export function getStatus(api: Api, signal?: AbortSignal): Promise<ServiceStatus> {
  return api.call(STATUS, { signal });
}

/** Whether the server answers at all. */
export async function isAnswering(api: Api): Promise<boolean> {
  return api.call(HEALTH, {}).then(
    () => true,
    () => false,
  );
}
