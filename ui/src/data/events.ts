import type { EventRecord } from '@svc/contract';
import type { Api } from './api.js';
import type { EventFilter } from './event-list.js';
import type { StreamListener } from './sse.js';

export async function listEvents(
  api: Api,
  filter: EventFilter & { limit?: number },
  signal?: AbortSignal,
): Promise<EventRecord[]> {
  return (await api.get<{ items: EventRecord[] }>('/events', { ...filter }, signal)).items;
}

export function streamEvents(api: Api, listener: StreamListener): () => void {
  return api.stream('/events/stream', {}, listener);
}
