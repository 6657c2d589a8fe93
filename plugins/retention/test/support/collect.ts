// Usage: collect.ts DATA_DIR KILL_AT_QUERY [RUN TOKEN]; deletes that run, or removes all that may go, and kills itself before that query, as
// kill -9 does.
import { createKernel, createLogger, resolveConfig } from '@svc/kernel';
import { retentionRef } from '../../src/index.js';
import { PLUGINS } from './plugins.js';

const [dataDir = '', killAt, run, token] = process.argv.slice(2);
const config = resolveConfig({ dataDir, port: 0, plugins: PLUGINS }, { env: {} });
const kernel = createKernel(config, { log: createLogger('silent') });
const { url } = await kernel.start();
let left = Number(killAt);
kernel.db.on('query', () => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
});
if (run === undefined) await kernel.use(retentionRef).collectGarbage({ dry_run: false, older_than_s: 0 });
else {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${url}/api/v1/runs/${run}`, { method: 'DELETE', headers });
  if (status !== 200) throw new Error(`answered ${status}`);
}
process.stdout.write('collected\n');
await kernel.close();
