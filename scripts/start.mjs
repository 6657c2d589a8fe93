// `npm start`: set up, then the server, one agent and the example in this terminal.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './fingerprint.mjs';
import { main } from './processes.mjs';
import { setUp } from './setup.mjs';

await main(async () => {
  await setUp();
  const svc = path.join(ROOT, 'cli', 'bin', 'svc.mjs');
  const child = spawn(process.execPath, [svc, 'up', '--example', ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to both; a `kill` of this process alone must reach `svc up` as well.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
});
