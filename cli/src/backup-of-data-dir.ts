import type { Db } from '@svc/kernel';
import { renewTokens, saveFirstToken } from '@svc/plugin-auth';
import { createBackup, DEFAULT_KEEP, restoreBackup, type Backup, type Restored } from '@svc/plugin-backup';
import { requireDatabase, withDataDir, type DataDirOptions } from './data-dir.js';
import { Failure } from './failure.js';

/** For commands alone: they load the kernel. */
export async function backUpDataDir(options: DataDirOptions): Promise<Pick<Backup, 'path' | 'size'>> {
  return withDataDir(options, async (config) => {
    const { database, dataDir, plugins } = config;
    requireDatabase(config);
    if (database.client !== 'sqlite')
      throw new Failure('the database is PostgreSQL: back it up with its own tools, such as pg_dump');
    const configured = plugins.find(({ name }) => name === 'backup')?.options['keep'];
    const keep = typeof configured === 'number' ? configured : DEFAULT_KEEP;
    const { path, size } = await createBackup({ dataDir, filename: database.filename, at: Date.now(), keep });
    return { path, size };
  });
}

/** `tokenFile`: where the new first token is, when all others were revoked. */
export type RestoredToDataDir = Restored & { readonly tokenFile: string | null };

export async function restoreToDataDir(
  file: string,
  options: DataDirOptions & { readonly revokeTokens?: boolean },
): Promise<RestoredToDataDir> {
  return withDataDir(options, async (config) => {
    const at = Date.now();
    if (!options.revokeTokens) return { ...(await restoreBackup({ file, config, at })), tokenFile: null };
    let token = '';
    const prepare = async (db: Db): Promise<void> => void (token = await renewTokens(db, at));
    const restored = await restoreBackup({ file, config, at, prepare });
    return { ...restored, tokenFile: await saveFirstToken(config.dataDir, token) };
  });
}
