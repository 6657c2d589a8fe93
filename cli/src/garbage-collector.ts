import { routes, type GarbageReport } from '@svc/contract';
import type { GarbageOrder } from '@svc/plugin-retention';
import { createClient } from '@svc/client';
import type { DataDirOptions } from './data-dir.js';
import { isServerMeant, loadConnection, type ConnectionOptions } from './settings.js';

export type CollectGarbage = (order: GarbageOrder) => Promise<GarbageReport>;

/**
 * Of the server that was named or that runs here; of the local data directory when neither is. Each order finds out anew, and between them
 * nothing is held: who is asked meanwhile may take their time.
 */
export function createGarbageCollector(options: ConnectionOptions & DataDirOptions): CollectGarbage {
  return async (order) => {
    if (isServerMeant(options))
      return createClient(loadConnection(options)).call(routes.collectGarbage, { body: order });
    const { collectGarbageOfDataDir } = await import('./gc-offline.js');
    return collectGarbageOfDataDir(order, options);
  };
}
