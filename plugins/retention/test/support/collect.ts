// Usage: collect.ts DATA_DIR KILL_AT_QUERY; kills itself, as kill -9 does, before that query of the removal.
import { createKernel, createLogger, resolveConfig } from '@svc/kernel';
import { retentionRef } from '../../src/index.js';
import { PLUGINS } from './plugins.js';

const [dataDir = '', killAt] = process.argv.slice(2);
const config = resolveConfig({ dataDir, port: 0, plugins: PLUGINS }, { env: {} });
const kernel = createKernel(config, { log: createLogger('silent') });
await kernel.start();
let left = Number(killAt);
kernel.db.on('query', () => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
});
await kernel.use(retentionRef).collectGarbage({ dry_run: false, older_than_s: 0 });
process.stdout.write('collected\n');
await kernel.close();
