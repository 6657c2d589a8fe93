import type { EventRecord, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import type { EventFilter } from './event-list.js';
import type { StreamListener } from './live-stream.js';
import { keepNames } from './record-names.js';

const LIST = endpoint<typeof routes.listEvents>('GET', '/events');
const STREAM = endpoint<typeof routes.streamEvents>('GET', '/events/stream');

/** With `names` those of their jobs, runs and nodes are kept: see `nameOf`. */
export async function listEvents(
  api: Api,
  filter: EventFilter & { type?: string; limit?: number; names?: true },
  signal?: AbortSignal,
): Promise<EventRecord[]> {
  const { items, names } = await api.call(LIST, { query: filter, signal });
  keepNames(api, names);
  return items;
}

export function streamEvents(api: Api, listener: StreamListener): () => void {
  return api.stream(STREAM, {}, listener);
}
