// Loaded before a program: kills it, as kill -9 does, right before its nth change of a file below a directory.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const CHANGES = ['open', 'mkdir', 'rm', 'rename', 'link', 'copyFile', 'chmod', 'unlink', 'rmdir'];
const directory = process.env.KILL_BELOW;
let left = Number(process.env.KILL_AT_STEP);

for (const name of CHANGES) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (String(args[0]).startsWith(directory)) left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
}
syncBuiltinESMExports();
