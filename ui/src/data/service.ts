import type { AnswerOf, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type ServiceStatus = AnswerOf<typeof routes.getStatus>['body'];

const STATUS = endpoint<typeof routes.getStatus>('GET', '/status');

export function getStatus(api: Api, signal?: AbortSignal): Promise<ServiceStatus> {
  return api.call(STATUS, { signal });
}
