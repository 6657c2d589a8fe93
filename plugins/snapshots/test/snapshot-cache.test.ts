import { failureOf, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { SnapshotCache } from '../src/agent/snapshot-cache.js';
import { sha256Of } from './support/archives.js';

const GOOD = Buffer.from('the archive');
const SHA256 = sha256Of(GOOD);

describe('the snapshots that a host has fetched', () => {
  let directory: string;
  let downloads: number;
  let come: (signal: AbortSignal) => Promise<Readable>;
  const closing = new AbortController();
  const running = new AbortController().signal;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'svc-cache-'));
    downloads = 0;
    come = async () => Readable.from([GOOD]);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const openCache = (retryMs = 1) => {
    const download = (_path: string, signal: AbortSignal) => {
      downloads += 1;
      return come(signal);
    };
    return new SnapshotCache(
      directory,
      { maxBytes: 1000, retryMs },
      { download, log, signal: closing.signal },
    );
  };
  const use = (cache: SnapshotCache, signal = running) =>
    cache.use(SHA256, signal, async (archive) => {
      expect(readFileSync(archive).equals(GOOD)).to.equal(true);
    });

  it('are asked for three times when they come damaged, and then the attempts fail with the remedy', async () => {
    come = async () => Readable.from([Buffer.from('damaged')]);
    const cache = openCache();
    for (const { name, message } of await Promise.all([
      failureOf(() => use(cache)),
      failureOf(() => use(cache)),
    ])) {
      expect(name).to.equal('DispatchFailed');
      expect(message).to.contain(SHA256).and.contain('3 times').and.contain('svc submit --upload');
    }
    expect(downloads).to.equal(3);
  });

  it('may come damaged once', async () => {
    come = async () => Readable.from([downloads === 1 ? Buffer.from('damaged') : GOOD]);
    await use(openCache());
    expect(downloads).to.equal(2);
  });

  it('are no longer asked for when no attempt waits for them', async () => {
    let lastSignal: AbortSignal | undefined;
    come = (signal) => {
      lastSignal = signal;
      return Promise.reject(new Error('away'));
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const cache = openCache();
    const failures = [first, second].map(({ signal }) => failureOf(() => use(cache, signal)));
    first.abort();
    await failures[0];
    const asked = downloads;
    await until(() => downloads > asked + 1);
    second.abort();
    await failures[1];
    expect(lastSignal?.aborted).to.equal(true);
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('are asked for anew by an attempt that comes after the last was stopped', async () => {
    come = (signal) =>
      downloads > 1
        ? Promise.resolve(Readable.from([GOOD]))
        : new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new Error('gone'))),
          );
    const stop = new AbortController();
    const cache = openCache();
    const stopped = failureOf(() => use(cache, stop.signal));
    await until(() => downloads === 1);
    stop.abort();
    await stopped;
    await use(cache);
    expect(downloads).to.equal(2);
  });
});
