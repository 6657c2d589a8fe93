import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { OldAttempts } from '../../src/attempts/old-attempts.js';
import { until } from '../../testing/index.js';

/** Of nobody on this host. */
const OTHER_UID = 54_321;
const DAY_MS = 24 * 60 * 60_000;
const NOW = Date.UTC(2026, 10, 20);
const STATE = ['plan.json', 'state.json', 'exit.json', 'stdout', 'stderr', 'forgotten.json'];

describe('agent: old attempts', () => {
  let root: string;
  let jobsDir: string;
  let managed: string[];
  const complaints: string[] = [];
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'svc-old-'));
    jobsDir = path.join(root, 'jobs');
    await mkdir(jobsDir);
    managed = [];
    complaints.length = 0;
  });
  afterEach(() => rm(root, { recursive: true }));

  const dirOf = (job: string, name = 'attempt-1') => path.join(jobsDir, job, name);
  const note = (message: string) => void complaints.push(message);
  const log = { debug: note, info: note, warn: note, error: note };

  /** Files as an attempt leaves them, released so many days ago. */
  async function attempt(job: string, ageDays: number | null, name?: string): Promise<string> {
    const dir = dirOf(job, name);
    await mkdir(path.join(dir, 'work'), { recursive: true });
    await mkdir(path.join(dir, 'spool'));
    await writeFile(path.join(dir, 'spool', '1.jsonl'), '{}\n');
    for (const file of STATE)
      if (ageDays !== null || file !== 'forgotten.json') await writeFile(path.join(dir, file), '{}');
    const at = new Date(NOW - (ageDays ?? 0) * DAY_MS);
    if (ageDays !== null) await utimes(path.join(dir, 'forgotten.json'), at, at);
    return dir;
  }

  /** One look at everything. */
  async function look(keepDays?: number): Promise<OldAttempts> {
    const old = new OldAttempts({
      jobsDir,
      keepDays,
      isManaged: ({ job_id, attempt }) => managed.includes(`${job_id}/${attempt}`),
      clock: { now: () => NOW },
      log,
    });
    old.start();
    await old.settle();
    expect(complaints).to.deep.equal([]);
    return old;
  }

  it('are removed 7 days after the server has all of them, not before, with the directory of their job', async () => {
    await attempt('old', 7);
    await attempt('young', 6.99);
    await attempt('both', 8, 'attempt-1');
    await attempt('both', 1, 'attempt-2');
    await (await look()).close();
    expect(await readdir(jobsDir)).to.have.members(['young', 'both']);
    expect(await readdir(path.join(jobsDir, 'both'))).to.deep.equal(['attempt-2']);
    expect(await readdir(dirOf('young'))).to.have.length(STATE.length + 2);
  });

  it('keep what is in their work directory, and the mark that they are released', async () => {
    const dir = await attempt('old', 30);
    await writeFile(path.join(dir, 'work', 'checkpoint.pt'), 'weights');
    await (await look()).close();
    expect(await readdir(dir)).to.have.members(['forgotten.json', 'work']);
    expect(await readdir(path.join(dir, 'work'))).to.deep.equal(['checkpoint.pt']);
    await rm(path.join(dir, 'work', 'checkpoint.pt'));
    await (await look()).close();
    expect(await readdir(jobsDir), 'once it is empty it goes too').to.deep.equal([]);
  });

  it('stay as long as the server does not have all of them, however old', async () => {
    const dir = await attempt('unknown', null);
    const cared = await attempt('cared', 30);
    managed = ['cared/1'];
    await (await look(0)).close();
    expect(await readdir(dir)).to.have.length(STATE.length + 1);
    expect(await readdir(cared)).to.have.length(STATE.length + 2);
  });

  it('lead nowhere else: links are not followed', async () => {
    const outside = path.join(root, 'outside');
    await mkdir(path.join(outside, 'attempt-1', 'work'), { recursive: true });
    for (const file of STATE) await writeFile(path.join(outside, 'attempt-1', file), 'mine');
    await symlink(outside, path.join(jobsDir, 'linked-job'));
    await mkdir(path.join(jobsDir, 'job'));
    await symlink(path.join(outside, 'attempt-1'), dirOf('job'));
    const dir = await attempt('inside', 30);
    await symlink(outside, path.join(dir, 'stray'));
    await rm(path.join(dir, 'work'), { recursive: true });
    await symlink(path.join(outside, 'attempt-1'), path.join(dir, 'work'));
    await (await look(0)).close();
    expect(await readdir(path.join(outside, 'attempt-1'))).to.have.length(STATE.length + 1);
    expect(await readdir(dir)).to.have.members(['forgotten.json', 'work']);
  });

  it('lead nowhere else, also while another user changes directories into links', async function () {
    // Only root removes what another user may change.
    if (process.getuid?.() !== 0) return this.skip();
    this.timeout(60_000);
    const outside = path.join(root, 'outside');
    await mkdir(outside);
    for (const dir of [root, jobsDir]) await chmod(dir, 0o711);
    const swap = `
      const fs = require('node:fs');
      const tries = [() => fs.renameSync('d', 'kept'), () => fs.symlinkSync(process.argv[1], 'd'),
        () => fs.unlinkSync('d'), () => fs.renameSync('kept', 'd')];
      for (let at = 0; ; at++) try { tries[at % 4]() } catch {}`;
    for (let round = 0; round < 10; round++) {
      for (let file = 0; file < 200; file++) await writeFile(path.join(outside, `f${file}`), '');
      const dir = await attempt('job', 30);
      const spool = path.join(dir, 'spool');
      await mkdir(path.join(spool, 'd'));
      for (let file = 0; file < 200; file++) await writeFile(path.join(spool, 'd', `f${file}`), '');
      for (const taken of [spool, path.join(spool, 'd')]) await chown(taken, OTHER_UID, OTHER_UID);
      for (const passed of [path.dirname(dir), dir]) await chmod(passed, 0o711);
      const swapper = spawn(
        'sh',
        ['-c', 'cd "$0"; exec "$@"', spool, process.execPath, '-e', swap, outside],
        {
          uid: OTHER_UID,
          gid: OTHER_UID,
          stdio: 'ignore',
        },
      );
      const isLink = () => lstatSync(path.join(spool, 'd'), { throwIfNoEntry: false })?.isSymbolicLink();
      await until(isLink, 'a link in the place of the directory');
      const fault = await look(0).then((old) => old.close(), String);
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
      expect(await readdir(outside), `round ${round}`).to.have.length(200);
      expect(fault).to.equal(undefined);
      expect(await readdir(jobsDir)).to.deep.equal([]);
    }
  });

  it('leave alone what is no attempt, and clear what an earlier life or a killed agent left', async () => {
    await writeFile(path.join(jobsDir, 'notes.txt'), '');
    await attempt('job', 30, 'my-attempt-1');
    await attempt('job', 30, 'attempt-1.before-1700000000000');
    await mkdir(path.join(dirOf('job'), '..', 'attempt-2.1700000000000.removed'));
    await mkdir(path.join(dirOf('job'), '..', 'mine.removed'));
    await (await look()).close();
    expect(await readdir(jobsDir)).to.have.members(['notes.txt', 'job']);
    expect(await readdir(path.join(jobsDir, 'job'))).to.have.members(['my-attempt-1', 'mine.removed']);
  });

  it('with 0 days are removed as soon as the server has all of them', async () => {
    const old = await look(0);
    const dir = await attempt('job', 0);
    old.released(dir);
    await old.settle();
    expect(existsSync(dir)).to.equal(false);
    await old.close();
    const kept = await look(1);
    const other = await attempt('other', 0);
    kept.released(other);
    await kept.close();
    expect(existsSync(other)).to.equal(true);
  });

  it('cannot be kept for less than 0 days', () => {
    const options = { jobsDir, isManaged: () => false, clock: { now: () => NOW }, log };
    expect(() => new OldAttempts({ ...options, keepDays: -1 })).to.throw(TypeError, 'less than 0 days');
  });
});
