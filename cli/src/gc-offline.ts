import type { GarbageReport } from '@svc/contract';
import { withOfflineKernel } from '@svc/kernel';
import { retentionRef, type GarbageOrder } from '@svc/plugin-retention';
import { loadDataDirConfig, requireDatabase, type DataDirOptions } from './data-dir.js';

/** Import it dynamically: it loads the kernel. */
export async function collectGarbageOfDataDir(
  order: GarbageOrder,
  options: DataDirOptions,
): Promise<GarbageReport> {
  const config = await loadDataDirConfig(options);
  requireDatabase(config);
  return withOfflineKernel(config, (kernel) => kernel.use(retentionRef).collectGarbage(order));
}
