import type { AttemptKey, SpoolAck, SpoolFrame } from '@svc/contract';
import { SPOOL_END } from '@svc/contract';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FakeServer, until, type Script } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const KEY: AttemptKey = { job_id: 'job_1', attempt: 1 };

describe('agent: spools', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const at = (...names: string[]) => path.join(bench.stateDir, 'jobs', KEY.job_id, 'attempt-1', ...names);
  const spooled = () => readdir(at('spool'));
  const write = (name: string, text: string) => appendFile(at('spool', name), text);
  const record = (number: number) => JSON.stringify({ kind: 'points', number });
  const records = (first: number, behind: number) =>
    Array.from({ length: behind - first }, (_, index) => `${record(first + index)}\n`).join('');
  const frames = () => bench.server.all('spool');
  const texts = (list = frames()) => list.flatMap(({ lines }) => lines.map(({ text }) => text));
  const isThere = (file: string) =>
    stat(file).then(
      () => true,
      () => false,
    );
  const isReleased = () => isThere(at('forgotten.json'));
  const logged = (words: string) => bench.logged.filter((line) => line.includes(words));

  /** A job that runs until `bench.runner.endLast()`. */
  async function startJob(script: Script = {}): Promise<void> {
    bench.server.dispatch({ ...KEY, plan: script });
    await bench.server.running(KEY);
  }

  it('is a directory of the attempt that only its user may enter, named to the process', async () => {
    await bench.connect();
    await startJob();
    expect((await stat(at('spool'))).mode & 0o777).to.equal(0o700);
    expect(bench.runner.environments.at(-1)).to.include({ SVC_SPOOL_DIR: at('spool') });
  });

  it('delivers whole lines as they are written, from where it was', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 3));
    await until(() => texts().length === 3, 'the first lines');
    await write('a.jsonl', `${records(3, 5)}{"kind":"poi`);
    await until(() => texts().length === 5, 'more lines');
    await write('a.jsonl', 'nts","number":5}\n');
    await until(() => texts().length === 6, 'the line that was torn');
    expect(texts()).to.deep.equal([0, 1, 2, 3, 4, 5].map(record));
    const [first, second] = frames() as [SpoolFrame, SpoolFrame];
    expect([first.from, second.from]).to.deep.equal([0, first.lines.at(-1)?.to]);
    expect(first.lines.map(({ to }) => to)).to.deep.equal([1, 2, 3].map((count) => records(0, count).length));
  });

  it('removes a file that its writer has ended, once it is delivered', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', `${records(0, 2)}${SPOOL_END}\n`);
    await write('b.jsonl', records(2, 3));
    await until(async () => (await spooled()).join() === 'b.jsonl', 'the removal');
    expect(texts()).to.have.members([0, 1, 2].map(record));
  });

  it('delivers after an outage what was written in it, in the order of each file', async () => {
    await bench.connect();
    await startJob();
    const { port } = bench.server;
    await bench.server.close();
    await write('a.jsonl', records(0, 2000));
    await write('b.jsonl', records(2000, 2500));
    bench.server = await FakeServer.listen(port);
    await until(() => texts().length === 2500, 'all of it');
    const of = (file: string) => texts(frames().filter((frame) => frame.file === file));
    expect(of('a.jsonl')).to.deep.equal(Array.from({ length: 2000 }, (_, index) => record(index)));
    expect(of('b.jsonl')).to.deep.equal(Array.from({ length: 500 }, (_, index) => record(2000 + index)));
  });

  it('sends a frame again that was not acknowledged before the connection was cut', async () => {
    await bench.connect();
    await startJob();
    bench.server.takeSpool = () => null;
    await write('a.jsonl', records(0, 2));
    await until(() => frames().length === 1, 'the frame');
    bench.server.takeSpool = takeAll;
    bench.server.cut();
    await until(() => frames().length === 2, 'the frame again');
    expect(frames()[1]).to.deep.equal(frames()[0]);
  });

  it('of one attempt does not wait for the answers of another', async () => {
    const OTHER = { job_id: 'job_2', attempt: 1 };
    await bench.connect();
    await startJob();
    bench.server.dispatch({ ...OTHER, plan: {} });
    await bench.server.running(OTHER);
    bench.server.takeSpool = (frame) => (frame.job_id === KEY.job_id ? null : takeAll(frame));
    await write('a.jsonl', records(0, 2));
    await until(() => frames().length === 1, 'the frame without an answer');
    const spool = path.join(bench.stateDir, 'jobs', OTHER.job_id, 'attempt-1', 'spool');
    await appendFile(path.join(spool, 'a.jsonl'), `${records(2, 4)}${SPOOL_END}\n`);
    await until(async () => (await readdir(spool)).length === 0, 'the other spool to be delivered');
    expect(frames().filter(({ job_id }) => job_id === KEY.job_id)).to.have.length(1);
  });

  it('goes on from its own mark when the agent is restarted', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 2));
    await until(() => isThere(at('spool.json')), 'the mark');
    await bench.closeAgents();
    await write('a.jsonl', records(2, 3));
    await bench.connect();
    await until(() => texts().includes(record(2)), 'the new line');
    expect(texts()).to.deep.equal([0, 1, 2].map(record));
  });

  it('delivers all of it again when its mark is lost', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 2));
    await until(() => isThere(at('spool.json')), 'the mark');
    await bench.closeAgents();
    await writeFile(at('spool.json'), 'torn');
    await bench.connect();
    await until(() => texts().length === 4, 'both lines again');
  });

  it('manages an attempt until its spool is delivered', async () => {
    bench.server.takeSpool = ({ from }) => ({ offset: from, refused: [] });
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 2));
    bench.runner.endLast();
    await bench.server.ended(KEY);
    await until(() => frames().length > 2, 'some tries');
    expect(await isReleased()).to.equal(false);
    bench.server.takeSpool = takeAll;
    await until(isReleased, 'the attempt to be released');
    expect(await spooled()).to.deep.equal([]);
  });

  it('takes up the spool of an attempt that ended before the agent was restarted', async () => {
    bench.server.takeSpool = ({ from }) => ({ offset: from, refused: [] });
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 2));
    bench.runner.endLast();
    await bench.server.ended(KEY);
    await bench.closeAgents();
    bench.server.takeSpool = takeAll;
    await bench.connect();
    await until(isReleased, 'the attempt to be released');
    expect(texts().slice(-2)).to.deep.equal([0, 1].map(record));
  });

  it('discards a torn last line when the attempt is over, and says so', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', `${records(0, 1)}{"kind":"po`);
    await until(() => texts().length === 1, 'the whole line');
    expect(await spooled()).to.deep.equal(['a.jsonl']);
    bench.runner.endLast();
    await until(isReleased, 'the attempt to be released');
    expect(logged('torn last line')).to.have.length(1);
    expect(logged('torn last line')[0]).to.include('11');
    expect(await spooled()).to.deep.equal([]);
  });

  it('keeps what the server refuses, with the reason, and goes on', async () => {
    bench.server.takeSpool = ({ lines }) => {
      const [bad, ...rest] = lines;
      return { offset: rest.at(-1)?.to ?? 0, refused: [{ to: bad?.to ?? 0, reason: 'no such run' }] };
    };
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 3));
    bench.runner.endLast();
    await until(isReleased, 'the attempt to be released');
    const [entry, ...others] = (await readFile(at('refused.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(entry ?? '')).to.deep.include({
      file: 'a.jsonl',
      reason: 'no such run',
      line: record(0),
    });
    expect(others).to.deep.equal([]);
    expect(logged('no such run')).to.have.length(1);
  });

  it('is not held up by a file that the server cannot take now', async () => {
    bench.server.takeSpool = (frame) =>
      frame.file === 'a.jsonl' ? { offset: frame.from, refused: [] } : takeAll(frame);
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 1));
    for (let number = 1; number < 4; number += 1) {
      await write('b.jsonl', records(number, number + 1));
      await until(() => texts().includes(record(number)), 'a line of the other file');
    }
    bench.server.takeSpool = takeAll;
    await until(() => frames().at(-1)?.file === 'a.jsonl', 'another try');
  });

  it('goes on behind the part of a frame that was taken', async () => {
    bench.server.takeSpool = ({ lines }) => ({ offset: lines[0]?.to ?? 0, refused: [] });
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 3));
    await until(() => frames().length === 3, 'three frames');
    expect(frames().map(({ lines }) => lines.length)).to.deep.equal([3, 2, 1]);
  });

  it('does not believe a mark that is none', async () => {
    let answers = 0;
    bench.server.takeSpool = (frame) => {
      answers += 1;
      return answers === 1 ? { offset: 7, refused: [] } : takeAll(frame);
    };
    await bench.connect();
    await startJob();
    await write('a.jsonl', records(0, 3));
    await until(() => frames().length === 2, 'the frame again');
    expect(texts().slice(3)).to.deep.equal([0, 1, 2].map(record));
  });

  it('gives up a line that is too long to be a record, however long it is, and tells the server once', async () => {
    bench.server.takeSpool = ({ lines }) => ({
      offset: lines.at(-1)?.to ?? 0,
      refused: lines.filter(({ text }) => text === '').map(({ to }) => ({ to, reason: 'too long' })),
    });
    await bench.connect();
    await startJob();
    await write('a.jsonl', `${records(0, 1)}${'x'.repeat(5_000_000)}\n${records(1, 2)}`);
    await until(() => texts().includes(record(1)), 'the line behind');
    expect(texts()).to.deep.equal([record(0), '', record(1)]);
    expect(logged('too long')).to.have.length(1);
    const kept = (await readFile(at('refused.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(kept.map((entry) => JSON.parse(entry))).to.deep.equal([
      { file: 'a.jsonl', to: record(0).length + 1 + 1024 * 1024, reason: 'too long', line: '' },
    ]);
  });

  it('gives up a long line without an end when the attempt is over', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', 'x'.repeat(3_000_000));
    bench.runner.endLast();
    await until(isReleased, 'the attempt to be released');
    expect(texts()).to.deep.equal(['']);
    expect(await spooled()).to.deep.equal([]);
  });

  it('sends no more of the shortest lines in a frame than the server reads at once', async () => {
    await bench.connect();
    await startJob();
    await write('a.jsonl', '\n'.repeat(12_000));
    await until(() => texts().length === 12_000, 'all lines');
    for (const { lines } of frames()) expect(lines.length).to.be.at.most(5000);
  });

  it('keeps a bounded size of what is refused, over its restarts too', async () => {
    bench.server.takeSpool = ({ lines }) => ({
      offset: lines.at(-1)?.to ?? 0,
      refused: lines.map(({ to }) => ({ to, reason: 'no' })),
    });
    await bench.connect();
    await startJob();
    await writeFile(at('refused.jsonl'), 'x'.repeat(16 * 1024 * 1024 - 100));
    await write('a.jsonl', `${'y'.repeat(200)}\n`.repeat(50));
    bench.runner.endLast();
    await until(isReleased, 'the attempt to be released');
    expect((await stat(at('refused.jsonl'))).size).to.be.at.most(16 * 1024 * 1024);
    expect(logged('were refused')[0]).to.include('50');
  });

  it('reads nothing but files of its directory, and waits for nothing else', async () => {
    await bench.connect();
    await startJob();
    await writeFile(at('secret.txt'), 'secret\n');
    await symlink(at('secret.txt'), at('spool', 'link.jsonl'));
    await mkdir(at('spool', 'folder.jsonl'));
    execFileSync('mkfifo', [at('spool', 'pipe.jsonl')]);
    await write('notes.txt', 'not a spool file\n');
    await write('a.jsonl', records(0, 1));
    bench.runner.endLast();
    await until(isReleased, 'the attempt to be released');
    expect(texts()).to.deep.equal([record(0)]);
    expect(await spooled()).to.have.members(['folder.jsonl', 'link.jsonl', 'notes.txt', 'pipe.jsonl']);
  });
});

function takeAll({ lines }: SpoolFrame): Pick<SpoolAck, 'offset' | 'refused'> {
  return { offset: lines.at(-1)?.to ?? 0, refused: [] };
}
