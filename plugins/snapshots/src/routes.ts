import { routes as contract, type Snapshot } from '@svc/contract';
import {
  created,
  download,
  fail,
  ok,
  type Caller,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import type { Readable } from 'node:stream';
import type { Inspections } from './inspections.js';
import { receiveArchive } from './receive.js';
import type { SnapshotStore } from './store.js';
import { readStored } from './stored-file.js';
import type { UploadLimits } from './upload-limits.js';

export interface Uploads {
  /** Of the gzipped tar. */
  readonly bodyLimitBytes: number;
  readonly limits: UploadLimits;
  readonly inspections: Inspections;
}

export function addRoutes(
  routes: RouteCollector,
  ctx: PluginContext,
  store: SnapshotStore,
  { bodyLimitBytes, limits, inspections }: Uploads,
): void {
  const receiver = { directory: store.directory, inspections, clock: ctx.clock };

  routes.add({ ...contract.uploadSnapshot, bodyLimitBytes }, async ({ body, caller, signal }) => {
    const ended = AbortSignal.any([signal, ctx.signal]);
    const { snapshot, isNew } = await limits.count(caller.token_id, () =>
      receiveArchive(body, receiver, ended, (received) => store.keep(ctx.db, received, ctx.clock.now())),
    );
    return isNew ? created(snapshot) : ok(snapshot);
  });

  routes.add(contract.getSnapshot, async ({ params, caller, koa }) => {
    const snapshot =
      (await store.find(ctx.db, params.sha256)) ?? fail('not_found', `no snapshot "${params.sha256}"`);
    const { sha256, size: sizeBytes } = snapshot;
    const body =
      koa.method === 'HEAD' ? await requireWhole(snapshot, caller) : await requireContent(snapshot);
    return download({ filename: `${sha256}.tar.gz`, contentType: 'application/gzip', body, sizeBytes });
  });

  /** Who asks before a submit must find it there afterwards. */
  async function requireWhole(snapshot: Snapshot, { scope }: Caller): Promise<''> {
    if (!(await store.isWhole(snapshot))) failDamaged(snapshot);
    if (scope === 'write') await store.renew(ctx.db, snapshot.sha256, ctx.clock.now());
    return '';
  }

  async function requireContent(snapshot: Snapshot): Promise<Readable> {
    const { sha256 } = snapshot;
    const body = await readStored(store.fileOf(sha256), snapshot, async (inode) => {
      const file = await store.setAside(sha256, inode);
      if (file !== null)
        ctx.log.error({ sha256, file }, 'the file of a snapshot is damaged and was set aside');
    });
    return body ?? failDamaged(snapshot);
  }
}

function failDamaged({ sha256 }: Snapshot): never {
  return fail('not_found', toDamaged(sha256));
}

/** What it means that a snapshot has no whole file, and what to do. */
export function toDamaged(sha256: string): string {
  return `the file of snapshot ${sha256} is gone or damaged on the server: submit again with svc submit --upload, which uploads the files again`;
}
