// Usage: out-of-files.ts DATA_DIR. Asks for a backup when the system opens no file for this process any more.
import type { HttpError } from '@svc/kernel';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createBackup } from '../../src/index.js';

const [dataDir = ''] = process.argv.slice(2);
const order = { dataDir, filename: join(dataDir, 'svc.db'), at: Date.now(), keep: 7 };
const open: number[] = [];
try {
  for (;;) open.push(openSync('/dev/null', 'r'));
} catch {
  // Enough.
}
const error = (await createBackup(order).catch((thrown: unknown) => thrown)) as HttpError;
for (const file of open) closeSync(file);
process.stdout.write(`${error.code}: ${error.message}\n`);
