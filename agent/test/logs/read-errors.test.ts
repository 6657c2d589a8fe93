import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { appendFile, mkdir, rename, rmdir, stat, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY: AttemptKey = { job_id: 'job_1', attempt: 1 };

/** A directory in a file's place fails each read of it, a link to itself each look into a directory: as a bad disk would. */
describe('agent: what cannot be read for a while', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const fileOf = (name: string) => path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1', name);
  const complaint = (words: string) =>
    until(() => bench.logged.some((line) => line.includes(words)), `"${words}"`);
  const isReleased = () =>
    stat(fileOf('forgotten.json')).then(
      () => true,
      () => false,
    );

  /** Resolves when its directory is there; it is started by `start`. */
  async function accept(): Promise<void> {
    await bench.connect();
    bench.server.starts = false;
    bench.server.dispatch({ ...KEY, plan: {} });
    await bench.server.frame('accepted');
  }
  async function start(): Promise<void> {
    bench.server.send({ type: 'start', ...KEY });
    await bench.server.running(KEY);
  }

  it('is waited for when it says how an attempt ended', async () => {
    await accept();
    await start();
    await mkdir(fileOf('exit.json'));
    bench.runner.endLast();
    await complaint('EISDIR');
    await rmdir(fileOf('exit.json'));
    const { exit } = await bench.server.ended(KEY);
    expect(exit).to.deep.include({ kind: 'signaled', signal: 'SIGTERM' });
  });

  it('is waited for when it says what was cut off a log', async () => {
    await accept();
    await mkdir(fileOf('cut.json'));
    await start();
    await appendFile(fileOf('stdout'), 'hello\n');
    await complaint('EISDIR');
    await rmdir(fileOf('cut.json'));
    await until(() => bench.server.logs.lines(KEY).length === 1, 'the line');
  });

  it('is waited for when it is the log of an attempt that is over', async () => {
    await accept();
    await symlink('.', fileOf('stdout'));
    await start();
    bench.runner.endLast();
    await complaint('cannot read the log');
    await appendFile(fileOf('stdout.aside'), 'hello\n');
    // At once: a log that is not there for a moment is an empty one.
    await rename(fileOf('stdout.aside'), fileOf('stdout'));
    await bench.server.ended(KEY);
    expect(bench.server.logs.lines(KEY)).to.deep.equal(['hello']);
  });

  it('is waited for when it is the spool of an attempt that is over', async () => {
    await accept();
    await start();
    await rename(fileOf('spool'), fileOf('spool.aside'));
    await symlink(fileOf('spool'), fileOf('spool'));
    await appendFile(fileOf('spool.aside/a.jsonl'), '{"kind":"points"}\n');
    bench.runner.endLast();
    await complaint('the spool directory cannot be read');
    await bench.server.ended(KEY);
    expect(await isReleased()).to.equal(false);
    await unlink(fileOf('spool'));
    await rename(fileOf('spool.aside'), fileOf('spool'));
    await until(isReleased, 'the attempt to be released');
    expect(
      bench.server
        .all('spool')
        .at(-1)
        ?.lines.map(({ text }) => text),
    ).to.deep.equal(['{"kind":"points"}']);
  });
});
