// Usage: restore.ts DATA_DIR FILE
import { resolveConfig } from '@svc/kernel';
import { restoreBackup } from '../../src/index.js';
import { PLUGINS } from './plugins.js';

const [dataDir = '', file = ''] = process.argv.slice(2);
const config = resolveConfig({ dataDir, plugins: PLUGINS }, { env: {} });
await restoreBackup({ file, config, at: Date.now() });
process.stdout.write('restored\n');
