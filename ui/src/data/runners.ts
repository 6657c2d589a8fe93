import type { routes, Runner } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Runner };

const LIST = endpoint<typeof routes.listRunners>('GET', '/runners');

export async function listRunners(api: Api, signal?: AbortSignal): Promise<Runner[]> {
  return (await api.call(LIST, { signal })).items;
}
