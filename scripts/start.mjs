// `npm start`: set up, then the server, one agent and, the first time, the example in this terminal.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './fingerprint.mjs';
import { main } from './processes.mjs';
import { setUp } from './setup.mjs';

const WATCH_MS = 500;

await main(async () => {
  const parent = process.ppid;
  await setUp();
  const svc = path.join(ROOT, 'cli', 'bin', 'svc.mjs');
  const args = [svc, 'up', '--example', ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; a `kill` of this process alone must reach `svc up` as well.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  // npm that is killed does not tell what it runs: whoever ends `npm start` means all of it.
  if (process.env.npm_lifecycle_event === 'start') {
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      child.kill('SIGTERM');
    }, WATCH_MS).unref();
  }
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
});
