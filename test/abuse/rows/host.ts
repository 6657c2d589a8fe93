import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ERRORS, routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { ROOT } from '../../support/program.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';
import type { Answer } from '../send.js';

const LOCKED_MS = 30_000;
/** A writer is answered by then, with its record or with 503. */
const WRITER_PATIENCE_MS = 9_000;
export const SMALL_DISK_MIB = 16;

const HOLDER = `
  const Database = require(${JSON.stringify(path.join(ROOT, 'node_modules/better-sqlite3'))});
  new Database(process.argv[1], { timeout: 20000 }).exec('BEGIN EXCLUSIVE');
  console.log('held');
  setInterval(() => {}, 1000);`;

/** Another process has the database locked until `release`. */
async function lockDatabase({ workplace }: Lab): Promise<{ release(): Promise<void> }> {
  const file = path.join(workplace.dataDir, 'svc.db');
  const holder = spawn(process.execPath, ['-e', HOLDER, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const gone = once(holder, 'close');
  return {
    async release() {
      holder.kill('SIGKILL');
      await gone;
    },
  };
}

const writeProject = ({ sender, tokens }: Lab, name: string): Promise<Answer> =>
  sender.send({
    method: 'POST',
    path: '/api/v1/projects',
    token: tokens.write,
    body: JSON.stringify({ name }),
  });

/** Records and points. */
const read = async ({ sender, tokens, ids }: Lab): Promise<number> => {
  const run = `/api/v1/runs/${ids['run_id']}`;
  const paths = ['/api/v1/projects', `${run}/summary`, `${run}/metrics?names=loss`];
  const answers = await Promise.all(paths.map((path) => sender.send({ path, token: tokens.read })));
  return Math.max(...answers.map(({ status }) => status));
};

function expectUnavailable({ status, text }: Answer): void {
  expect(status, text).to.equal(ERRORS.unavailable.status);
  expect(text).to.contain('"unavailable"');
}

export const LOCK_ROW: Row = {
  input: 'the database locked by another process for 30 s',
  who: 'whoever has the host',
  limit: '5 s, then 503 to who writes',
  others: 'reading goes on; writing waits for up to 5 s, then it is answered by 503 until the lock is gone',
  timeoutMs: 180_000,
  async send(lab) {
    await writeProject(lab, `before ${Date.now()}`);
    const lock = await lockDatabase(lab);
    const untilMs = Date.now() + LOCKED_MS;
    try {
      for (let round = 0; Date.now() < untilMs; round++) {
        const startedMs = Date.now();
        const writes = Promise.all(['a', 'b', 'c'].map((name) => writeProject(lab, `${name} ${round}`)));
        for (let reads = 0; reads < 10; reads++) expect(await read(lab)).to.equal(200);
        for (const answer of await writes) expectUnavailable(answer);
        expect(Date.now() - startedMs, 'the wait of who writes').to.be.below(WRITER_PATIENCE_MS);
      }
      const waiting = writeProject(lab, `after ${Date.now()}`);
      await pause(500);
      await lock.release();
      expect((await waiting).status).to.equal(201);
    } finally {
      await lock.release();
    }
  },
};

/** The data directory of the lab is on a disk of SMALL_DISK_MIB. */
export const FULL_DISK_ROW: Row = {
  input: 'a full disk',
  who: 'whoever has the host',
  limit: 'what is free',
  others: 'reading goes on; writing is answered by 503 until there is room',
  timeoutMs: 180_000,
  async send(lab) {
    const filler = path.join(lab.workplace.dataDir, 'filler');
    expect((await writeProject(lab, `before ${Date.now()}`)).status).to.equal(201);
    try {
      writeFileSync(filler, Buffer.alloc(SMALL_DISK_MIB * 1024 * 1024));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).to.equal('ENOSPC');
    }
    const params = { run_id: lab.ids['run_id']! };
    const body = JSON.stringify({ title: 'large', message: 'x'.repeat(20_000) });
    const event = { method: 'POST', path: `/api/v1/runs/${params.run_id}/events`, token: lab.tokens.write };
    const answers: Answer[] = [];
    // What the log before the next checkpoint has room for is still taken.
    await until(
      async () => {
        answers.push(await lab.sender.send({ ...event, body }));
        return answers.at(-1)!.status !== 201;
      },
      { timeoutMs: 30_000, everyMs: 0 },
    );
    for (let more = 0; more < 20; more++) expectUnavailable(await lab.sender.send({ ...event, body }));
    const points = JSON.stringify({
      points: Array.from({ length: 2_000 }, (_, seq) => ({ seq, name: 'loss', step: seq, value: seq / 7 })),
    });
    expectUnavailable(
      await lab.sender.send({ ...event, path: `/api/v1/runs/${params.run_id}/metrics:batch`, body: points }),
    );
    for (let reads = 0; reads < 20; reads++) expect(await read(lab)).to.equal(200);
    rmSync(filler);
    expect((await writeProject(lab, `after ${Date.now()}`)).status).to.equal(201);
    const stored = (await lab.server.client.call(routes.listEvents, { query: { limit: 1000 } })).items;
    expect(stored.filter(({ title }) => title === 'large').length).to.be.at.least(
      answers.filter(({ status }) => status === 201).length,
    );
  },
};

/** Mounts a small disk of its own there; answers how to take it away. Null: this process may not. */
export function mountSmallDisk(dir: string): (() => void) | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_DISK_MIB}m,mode=700`, 'tmpfs', dir], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  return () => void execFileSync('umount', [dir], { stdio: 'ignore' });
}

export const HOST_ROWS: readonly Row[] = [LOCK_ROW, FULL_DISK_ROW];
