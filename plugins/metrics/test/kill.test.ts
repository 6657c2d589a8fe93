import { migrate, openDatabase } from '@svc/kernel';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PointStore } from '../src/point-store.js';
import { readRun } from '../src/run-reader.js';
import { batch, RUN, storeMigrations } from './store-rig.js';

const WRITER = fileURLToPath(new URL('./support/write-until-killed.ts', import.meta.url));
const ROUNDS = 3;
const BATCHES = 150;

describe('a writer that is killed', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'svc-kill-'))));
  after(() => rmSync(directory, { recursive: true }));

  it('has lost no acknowledged batch and no part of one, and doubled none', async function () {
    this.timeout(60_000);
    const filename = join(directory, 'svc.db');
    const db = await openDatabase({ client: 'sqlite', filename });
    await migrate(db, storeMigrations);
    await db('runs').insert({ id: RUN });
    await db.destroy();
    const acknowledged: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      acknowledged.push(...(await writeUntilKilled(filename, round * 1_000_000)));
      await expectWhole(filename, acknowledged);
    }
  });
});

async function writeUntilKilled(filename: string, start: number): Promise<number[]> {
  const args = ['--import=tsx', '--conditions=svc-source', WRITER, filename, String(start)];
  const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  writer.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const closed = new Promise((resolve) => writer.once('close', resolve));
  await until(() => output.split('\n').length > BATCHES, { timeoutMs: 30_000 });
  writer.kill('SIGKILL');
  await closed;
  return output.split('\n').slice(0, -1).map(Number);
}

async function expectWhole(filename: string, acknowledged: readonly number[]): Promise<void> {
  const db = await openDatabase({ client: 'sqlite', filename });
  try {
    const store = new PointStore({ db }, () => Promise.resolve());
    const series = Object.values(await readRun(store, RUN, { limit: 1_000_000 }));
    const seqs = series.flatMap(({ values }) => values as number[]);
    const stored = new Set(seqs);
    expect(stored.size).to.equal(seqs.length);
    expect(stored.size % 100).to.equal(0);
    const missing = acknowledged.flatMap(toSeqs).filter((seq) => !stored.has(seq));
    expect(missing).to.deep.equal([]);
    const again = acknowledged.slice(-1).flatMap(toSeqs);
    const points = again.map((seq) => ({ seq, name: 'again', step: 0, value: 0 }));
    const [outcome] = await store.write([batch(points)]);
    expect(outcome).to.deep.include({ written: { accepted: [], duplicates: 100, created: [] } });
  } finally {
    await db.destroy();
  }
}

function toSeqs(first: number): number[] {
  return Array.from({ length: 100 }, (_, index) => first + index);
}
