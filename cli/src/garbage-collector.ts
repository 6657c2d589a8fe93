import { routes, type GarbageReport } from '@svc/contract';
import type { GarbageOrder } from '@svc/plugin-retention';
import { createClient } from './api/client.js';
import type { DataDirOptions } from './data-dir.js';
import { isServerMeant, loadConnection, type ConnectionOptions } from './settings.js';

export type CollectGarbage = (order: GarbageOrder) => Promise<GarbageReport>;

/** Of the server that was named or that runs here; of the local data directory when neither is. */
export async function withGarbageCollector(
  options: ConnectionOptions & DataDirOptions,
  work: (collect: CollectGarbage) => Promise<void>,
): Promise<void> {
  if (isServerMeant(options)) {
    const client = createClient(loadConnection(options));
    return work((body) => client.call(routes.collectGarbage, { body }));
  }
  const { withServerOfOurOwn } = await import('./own-server.js');
  const { retentionRef } = await import('@svc/plugin-retention');
  return withServerOfOurOwn(options, (kernel) =>
    work((order) => kernel.use(retentionRef).collectGarbage(order)),
  );
}
