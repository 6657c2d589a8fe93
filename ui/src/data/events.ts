import type { EventRecord, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import type { EventFilter } from './event-list.js';
import type { StreamListener } from './live-stream.js';

const LIST = endpoint<typeof routes.listEvents>('GET', '/events');
const STREAM = endpoint<typeof routes.streamEvents>('GET', '/events/stream');

export async function listEvents(
  api: Api,
  filter: EventFilter & { type?: string; limit?: number },
  signal?: AbortSignal,
): Promise<EventRecord[]> {
  return (await api.call(LIST, { query: filter, signal })).items;
}

export function streamEvents(api: Api, listener: StreamListener): () => void {
  return api.stream(STREAM, {}, listener);
}
