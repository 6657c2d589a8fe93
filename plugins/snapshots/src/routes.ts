import { routes as contract, type Snapshot } from '@svc/contract';
import { created, download, fail, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ArchiveLimits } from './inspect-archive.js';
import { receiveArchive } from './receive.js';
import type { SnapshotStore } from './store.js';

export interface UploadLimits extends ArchiveLimits {
  /** Of the gzipped tar. */
  readonly bodyLimitBytes: number;
  /** Further uploads are told to come again. */
  readonly uploads: number;
}

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  store: SnapshotStore,
  limits: UploadLimits,
): void {
  let uploads = 0;
  const { bodyLimitBytes } = limits;

  routes.add({ ...contract.uploadSnapshot, bodyLimitBytes }, async ({ body, signal }) => {
    if (uploads >= limits.uploads)
      fail('unavailable', `${uploads} snapshots are being uploaded now; send this one again in a moment`);
    uploads += 1;
    try {
      const received = await receiveArchive(body, store, limits, AbortSignal.any([signal, ctx.signal]));
      const { snapshot, isNew } = await store.add(ctx.db, { ...received, created_at: ctx.clock.now() });
      return isNew ? created(snapshot) : ok(snapshot);
    } finally {
      uploads -= 1;
    }
  });

  routes.add(contract.getSnapshot, async ({ params }) => {
    const { sha256 } = await requireSnapshot(params.sha256);
    const file = store.fileOf(sha256);
    const { size } = await stat(file).catch(() =>
      fail('not_found', `the file of snapshot ${sha256} is gone`),
    );
    return download({
      filename: `${sha256}.tar.gz`,
      contentType: 'application/gzip',
      body: createReadStream(file),
      sizeBytes: size,
    });
  });

  async function requireSnapshot(sha256: string): Promise<Snapshot> {
    return (await store.find(ctx.db, sha256)) ?? fail('not_found', `no snapshot "${sha256}"`);
  }
}
