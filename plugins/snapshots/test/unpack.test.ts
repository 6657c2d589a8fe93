import { expect } from 'chai';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { unpackInto } from '../src/agent/unpack.js';
import { toArchive, type Entry } from './support/archives.js';

describe('unpacking a snapshot', () => {
  let directory: string;
  let work: string;
  const running = new AbortController().signal;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'svc-unpack-'));
    work = path.join(directory, 'work');
    mkdirSync(work);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const unpack = async (bytes: Buffer, signal = running) => {
    const archive = path.join(directory, 'archive');
    writeFileSync(archive, bytes);
    await unpackInto(archive, work, null, signal);
  };
  const failure = (bytes: Buffer, signal = running) =>
    unpack(bytes, signal).then(
      () => expect.fail('it was unpacked'),
      (error: Error) => error,
    );
  const link = (name: string, linkpath: string): Entry => ({ path: name, type: 'SymbolicLink', linkpath });

  it('keeps links that lead out of the tree as they are', async () => {
    await unpack(toArchive([link('data', '/mnt/datasets'), link('a/shared', '../../shared'), { path: 'x' }]));
    expect(readlinkSync(path.join(work, 'data'))).to.equal('/mnt/datasets');
    expect(readlinkSync(path.join(work, 'a', 'shared'))).to.equal('../../shared');
  });

  it('writes nothing through a link', async () => {
    const target = path.join(directory, 'target');
    mkdirSync(target);
    for (const below of [{ path: 'd/f', content: 'x' }, link('d/f', 'x')]) {
      const { name, message } = await failure(toArchive([link('d', target), below]));
      expect(name).to.equal('DispatchFailed');
      expect(message).to.contain('cannot be unpacked');
    }
    expect(readdirSync(target)).to.deep.equal([]);
    expect(readdirSync(directory)).to.not.include('work.partial');
  });

  it('takes no rights of others over from the archive', async () => {
    await unpack(
      toArchive([
        { path: 'd', type: 'Directory', mode: 0o7777 },
        { path: 'd/run', content: 'x', mode: 0o6755 },
      ]),
    );
    expect(statSync(path.join(work, 'd')).mode & 0o7777).to.equal(0o755);
    expect(lstatSync(path.join(work, 'd', 'run')).mode & 0o7777).to.equal(0o755);
  });

  it('takes little memory for what stands behind the end, and for a large file', async function () {
    this.timeout(60_000);
    const small = toArchive([{ path: 'a', content: 'x' }]);
    const tail = Buffer.concat([small, ...Array<Buffer>(400).fill(gzipSync(Buffer.alloc(1024 * 1024)))]);
    expect((await failure(tail)).message).to.contain('behind its end');
    const beforeBytes = process.memoryUsage().rss;
    await unpack(toArchive([{ path: 'zeros', content: Buffer.alloc(300 * 1024 * 1024) }]));
    expect(statSync(path.join(work, 'zeros')).size).to.equal(300 * 1024 * 1024);
    expect(process.memoryUsage().rss - beforeBytes).to.be.below(1024 ** 3);
  });

  it('takes little memory for many directories, and lets others have their turn', async () => {
    const entries = Array.from({ length: 400 }, (_, at) => ({ path: `r${at}/${'a/'.repeat(100)}f` }));
    const beforeBytes = process.memoryUsage().rss;
    let peakBytes = 0;
    let longestMs = 0;
    let lastMs = performance.now();
    const timer = setInterval(() => {
      peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 5);
    await unpack(toArchive(entries));
    clearInterval(timer);
    expect(existsSync(path.join(work, `r399/${'a/'.repeat(100)}f`))).to.equal(true);
    expect(peakBytes - beforeBytes).to.be.below(100 * 1024 ** 2);
    expect(longestMs).to.be.below(1000);
  });

  it('ends at once when it is stopped', async function () {
    this.timeout(60_000);
    const many = toArchive(Array.from({ length: 20_000 }, (_, at) => ({ path: `f${at}`, content: 'x' })));
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const startedMs = performance.now();
    await failure(many, stop.signal);
    expect(performance.now() - startedMs).to.be.below(2000);
    expect(readdirSync(work)).to.deep.equal([]);
  });
});
