import { routes as contract, strict } from '@svc/contract';
import {
  definePlugin,
  dialectOf,
  fail,
  CoalescedWork,
  ok,
  withRawSqlite,
  type PluginContext,
} from '@svc/kernel';
import { Type } from 'typebox';
import { createBackup, DEFAULT_KEEP, type Backup } from './backup.js';

export { createBackup, DEFAULT_KEEP, type Backup, type BackupOrder } from './backup.js';
export { restoreBackup, type Restored, type RestoreOrder } from './restore.js';

/** A write-ahead log that has grown, as it does during a backup, is cut back to this. */
const WAL_BYTES = 256 * 1024 * 1024;

export const backup = definePlugin({
  name: 'backup',
  options: strict({
    keep: Type.Integer({ minimum: 1, default: DEFAULT_KEEP, description: 'So many backups stay.' }),
  }),
  setup(ctx, { keep }) {
    const backups = new CoalescedWork(() => makeBackup(ctx, keep));
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      routes.add(contract.createBackup, async () => {
        refusePostgres(ctx);
        const { path, size } = await backups.next();
        return ok({ path, size });
      }),
    );
    ctx.ready(async () => {
      if (dialectOf(ctx.db) === 'sqlite')
        await withRawSqlite(ctx.db, (connection) => connection.pragma(`journal_size_limit = ${WAL_BYTES}`));
    });
    ctx.onClose(() => backups.settled());
  },
});

function refusePostgres({ db, config }: PluginContext): void {
  if (dialectOf(db) === 'sqlite') return;
  const command = 'pg_dump --format=custom --file=svc.dump "$SVC_DATABASE_URL"';
  fail(
    'unavailable',
    `the database is PostgreSQL: back it up with its own tools, as in: ${command}; the logs and snapshots are in ${config.dataDir}/logs and ${config.dataDir}/snapshots`,
  );
}

async function makeBackup(ctx: PluginContext, keep: number): Promise<Backup> {
  const { db, signal, clock, config, log } = ctx;
  const filename = await withRawSqlite(db, (connection) => connection.name);
  const startedMs = clock.now();
  const made = await createBackup({ dataDir: config.dataDir, filename, at: startedMs, keep, db, signal });
  const { path, size, logs, snapshots } = made;
  log.info({ path, size, logs, snapshots, ms: clock.now() - startedMs }, 'backup made');
  return made;
}
