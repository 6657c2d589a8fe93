import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { walkJobFiles } from '@svc/agent/job-files';
import type { RunPaths } from '@svc/agent';
import { SmallDisk, until } from '@svc/agent/testing';
import { expect } from 'chai';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AttemptEventFiles } from '../src/agent/attempt-event-files.js';
import { restartRecord, scalarRecord } from './event-bytes.js';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const KEY = { job_id: 'job_1', attempt: 1 };

describe('the event files of an attempt', () => {
  let root: string;
  let work: string;
  let paths: RunPaths;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'event-files-'));
    const dir = path.join(root, 'attempt');
    paths = { dir, spool: path.join(dir, 'spool') } as RunPaths;
    work = path.join(root, 'work');
    for (const folder of [paths.spool, work]) mkdirSync(folder, { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const open = (
    startedAt = 0,
    isOwn: () => Promise<boolean | null> = async () => true,
    warn: (message: string, fields?: object) => void = () => {},
  ) =>
    AttemptEventFiles.open(
      { log: { ...SILENT, warn }, signal: new AbortController().signal },
      { ...KEY, startedAt, runId: 'run_1', paths },
      isOwn,
    );
  const file = (name: string) => {
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    return path.join(work, name);
  };
  const FILE = 'events.out.tfevents.1700000000.host.1.0';

  /** The last of the attempt, after which no other folder can come. */
  async function walk(files: AttemptEventFiles, { isLast = true } = {}): Promise<boolean> {
    return files.take(await walkJobFiles([work], (entry) => entry.name.includes('tfevents')), { isLast });
  }

  async function walkAndRead(files: AttemptEventFiles): Promise<void> {
    await walk(files);
    await files.read();
  }

  /** What waits for the server; it then has it. */
  function deliver(): SpoolRecord[] {
    const names = readdirSync(paths.spool).sort();
    const lines = names.flatMap((name) =>
      readFileSync(path.join(paths.spool, name), 'utf8').trim().split('\n'),
    );
    for (const name of names) rmSync(path.join(paths.spool, name));
    return lines.filter((line) => line !== SPOOL_END).map((line) => JSON.parse(line) as SpoolRecord);
  }
  const points = (records: readonly SpoolRecord[]) =>
    records.flatMap((record) => (record.kind === 'points' ? record.body.points : []));

  it('are read as they grow', async () => {
    const files = await open();
    writeFileSync(file(FILE), scalarRecord('loss', 1, 0.5));
    await walkAndRead(files);
    expect(points(deliver())).to.containSubset([
      { name: 'loss', step: 1, value: 0.5, ts: 1_700_000_000_000 },
    ]);
    appendFileSync(file(FILE), scalarRecord('loss', 2, 0.25));
    await files.read();
    expect(points(deliver()).map(({ step }) => step)).to.deep.equal([2]);
    await files.read();
    expect(deliver()).to.deep.equal([]);
  });

  it('give the same seqs to what is read again', async () => {
    writeFileSync(file(FILE), Buffer.concat([scalarRecord('a', 1, 1), scalarRecord('b', 1, 1)]));
    await walkAndRead(await open());
    const first = points(deliver());
    rmSync(path.join(paths.dir, 'event-files.json'));
    await walkAndRead(await open());
    expect(points(deliver())).to.deep.equal(first);
    expect(new Set(first.map(({ seq }) => seq)).size).to.equal(2);
  });

  it('go on after a restart of the agent', async () => {
    writeFileSync(file(FILE), scalarRecord('loss', 1, 1));
    await walkAndRead(await open());
    const [first] = points(deliver());
    appendFileSync(file(FILE), scalarRecord('loss', 2, 1));
    await walkAndRead(await open());
    expect(points(deliver()).map(({ seq, step }) => [seq, step])).to.deep.equal([[first!.seq + 1, 2]]);
  });

  it('are read from the beginning when they are replaced', async () => {
    const files = await open();
    writeFileSync(file(FILE), Buffer.concat([scalarRecord('a', 1, 1), scalarRecord('a', 2, 1)]));
    await walkAndRead(files);
    deliver();
    rmSync(file(FILE));
    writeFileSync(path.join(work, 'other'), '');
    writeFileSync(file(FILE), scalarRecord('a', 3, 1));
    await files.read();
    expect(points(deliver()).map(({ step }) => step)).to.deep.equal([3]);
  });

  it('are read from the beginning, as new values, when they are written anew in place', async () => {
    const files = await open();
    writeFileSync(file(FILE), Buffer.concat([scalarRecord('a', 1, 1), scalarRecord('a', 2, 1)]));
    await walkAndRead(files);
    const before = points(deliver()).map(({ seq }) => seq);
    writeFileSync(file(FILE), scalarRecord('a', 3, 1));
    await files.read();
    const [after] = points(deliver());
    expect(after).to.include({ step: 3 });
    expect(before).to.not.include(after!.seq);
  });

  it('of a training that begins again at an earlier step are all kept, without a complaint', async () => {
    const files = await open();
    const steps = (from: number, to: number, value: number) =>
      Array.from({ length: to - from }, (_, index) => scalarRecord('loss', from + index, value));
    writeFileSync(file(FILE), Buffer.concat(steps(0, 10, 1)));
    await walkAndRead(files);
    writeFileSync(file(FILE.replace('17', '18')), Buffer.concat([restartRecord(5), ...steps(5, 15, 2)]));
    await walkAndRead(files);
    const records = deliver();
    expect(records.map(({ kind }) => kind)).to.deep.equal(['points', 'points']);
    const all = points(records);
    expect(new Set(all.map(({ seq }) => seq)).size).to.equal(20);
    expect(all.at(-1)).to.include({ step: 14, value: 2 });
  });

  it('of before the attempt are left out, but for what is added', async () => {
    writeFileSync(file(FILE), scalarRecord('old', 1, 1));
    const files = await open(Date.now() + 60_000);
    await walkAndRead(files);
    expect(deliver()).to.deep.equal([]);
    appendFileSync(file(FILE), scalarRecord('new', 2, 1));
    await walkAndRead(files);
    expect(points(deliver()).map(({ name }) => name)).to.deep.equal(['new']);
  });

  it('of another attempt in the same folder are left out', async () => {
    writeFileSync(file(FILE), scalarRecord('loss', 1, 1));
    await walkAndRead(await open(0, async () => false));
    expect(deliver()).to.deep.equal([]);
  });

  it('have prefixes by their folders', async () => {
    for (const folder of ['runs/a', 'runs/a/eval', 'runs/b'])
      writeFileSync(file(`${folder}/${FILE}`), scalarRecord('loss', 1, 1));
    await walkAndRead(await open());
    expect(points(deliver()).map(({ name }) => name)).to.have.members(['a/loss', 'a/eval/loss', 'b/loss']);
  });

  it('have the same prefixes whichever folder is found first', async () => {
    const namesFrom = async (...folders: string[]) => {
      const files = await open();
      for (const folder of folders) {
        writeFileSync(file(`${folder}/${FILE}`), scalarRecord('loss', 1, 1));
        expect(await walk(files, { isLast: false })).to.equal(true);
      }
      await until(() => walk(files, { isLast: false }).then((isEarly) => !isEarly), 'the names');
      await files.read();
      const names = points(deliver()).map(({ name }) => name);
      for (const place of [work, path.join(paths.dir, 'event-files.json')])
        rmSync(place, { recursive: true });
      return names;
    };
    expect(await namesFrom('gan/generator', 'gan/critic')).to.have.members(['generator/loss', 'critic/loss']);
    expect(await namesFrom('gan/critic', 'gan/generator')).to.have.members(['generator/loss', 'critic/loss']);
  });

  it('go on where they were read to when a longer copy is put in their place', async () => {
    const files = await open();
    const begin = Buffer.concat([scalarRecord('a', 1, 1), scalarRecord('a', 2, 1)]);
    writeFileSync(file(FILE), begin);
    await walkAndRead(files);
    const before = points(deliver());
    writeFileSync(file('copy'), Buffer.concat([begin, scalarRecord('a', 3, 1)]));
    renameSync(file('copy'), file(FILE));
    await files.read();
    const after = points(deliver());
    expect(after.map(({ seq, step }) => [seq, step])).to.deep.equal([[before[1]!.seq + 1, 3]]);
  });

  it('that are copied into place in pieces are waited for', async () => {
    const files = await open();
    const begin = Buffer.concat([scalarRecord('a', 1, 1), scalarRecord('a', 2, 1)]);
    writeFileSync(file(FILE), begin);
    await walkAndRead(files);
    deliver();
    for (const bytes of [0, 20, begin.length - 5]) {
      writeFileSync(file(FILE), begin.subarray(0, bytes));
      await files.read();
    }
    writeFileSync(file(FILE), Buffer.concat([begin, scalarRecord('a', 3, 1)]));
    await files.read();
    expect(points(deliver()).map(({ step }) => step)).to.deep.equal([3]);
  });

  it('with the same beginning and other records behind it are new ones', async () => {
    const files = await open();
    const [begin, rest] = [scalarRecord('a', 1, 1), Buffer.concat([scalarRecord('a', 2, 1)])];
    writeFileSync(file(FILE), Buffer.concat([begin, rest]));
    await walkAndRead(files);
    const before = points(deliver()).map(({ seq }) => seq);
    writeFileSync(file('other'), Buffer.concat([begin, scalarRecord('b', 2, 1), rest]));
    renameSync(file('other'), file(FILE));
    await files.read();
    const after = points(deliver());
    expect(after.map(({ name }) => name)).to.deep.equal(['a', 'b', 'a']);
    expect(after.map(({ seq }) => seq)).to.not.include.members(before);
  });

  it('go on, under the same names, when their folder is renamed', async () => {
    const files = await open();
    for (const folder of ['runs', 'runs/eval'])
      writeFileSync(file(`${folder}/${FILE}`), scalarRecord('loss', 1, folder.length));
    await walkAndRead(files);
    deliver();
    renameSync(file('runs'), file('done'));
    appendFileSync(file(`done/eval/${FILE}`), scalarRecord('loss', 2, 1));
    await walkAndRead(files);
    expect(points(deliver()))
      .to.containSubset([{ name: 'eval/loss', step: 2 }])
      .and.have.length(1);
  });

  it('tell of unreadable records once, and the log of their number at the end', async () => {
    const broken = scalarRecord('loss', 1, 1);
    broken[20]! ^= 1;
    for (const name of [FILE, `${FILE}.v2`])
      writeFileSync(file(name), Buffer.concat([broken, scalarRecord('loss', 2, 1)]));
    const lines: unknown[] = [];
    const warn = (...line: unknown[]) => lines.push(line);
    const files = await open(0, async () => true, warn);
    await walkAndRead(files);
    const records = deliver();
    await files.readRest();
    const counts = { ...KEY, files: 0, scalars: 0, records: 2 };
    const title = 'event files, scalars or unreadable records were left out';
    expect(lines.at(-1)).to.deep.equal([title, counts]);
    expect(records.filter(({ kind }) => kind === 'event')).to.have.length(1);
    expect(points(records).map(({ step }) => step)).to.deep.equal([2, 2]);
  });

  it('wait while the spool takes nothing, which the log tells once whatever the file is called', async () => {
    const warnings: string[] = [];
    const files = await open(
      0,
      async () => true,
      (message) => warnings.push(message),
    );
    writeFileSync(file(FILE), scalarRecord('loss', 1, 1));
    await walk(files);
    const state = path.join(paths.dir, `event-files.json.${process.pid}.tmp`);
    rmSync(paths.spool, { recursive: true });
    writeFileSync(paths.spool, 'no folder');
    for (let tries = 0; tries < 5; tries++) await files.read({ isLast: true });
    expect(warnings).to.deep.equal(['an event file cannot be read now; it is tried again']);
    rmSync(paths.spool);
    for (const folder of [paths.spool, state]) mkdirSync(folder);
    for (const step of [2, 3, 4]) {
      await files.read({ isLast: true });
      appendFileSync(file(FILE), scalarRecord('loss', step, 1));
    }
    expect(points(deliver()).map(({ step }) => step)).to.deep.equal([1, 2, 3]);
    expect(warnings.slice(1)).to.deep.equal(['cannot note how far event files are read']);
  });

  it('wait while the server takes nothing, and lose nothing', async () => {
    const files = await open();
    const record = scalarRecord('loss', 1, 1);
    writeFileSync(file(FILE), Buffer.concat(Array.from({ length: 60_000 }, () => record)));
    await walkAndRead(files);
    expect(readdirSync(paths.spool)).to.have.length.below(12);
    let count = points(deliver()).length;
    expect(count).to.be.below(60_000);
    await files.read({ isLast: true });
    count += points(deliver()).length;
    expect(count).to.equal(60_000);
  });

  it('that never end are given up, and others are read meanwhile', async () => {
    const other = FILE.replace('host', 'other');
    writeFileSync(file(FILE), scalarRecord('loss', 1, 1));
    truncateSync(file(FILE), 2 ** 41);
    writeFileSync(file(other), scalarRecord('loss', 2, 1));
    const files = await open();
    await walkAndRead(files);
    await files.read();
    expect(points(deliver()).map(({ step }) => step)).to.have.members([1, 2]);
    let passes = 0;
    while (await files.read()) expect((passes += 1)).to.be.below(100);
    expect(deliver()).to.containSubset([{ kind: 'event', body: { title: 'An event file is given up' } }]);
    await files.readRest();
    expect(deliver()).to.deep.equal([]);
  });

  it('are not read to their end when the time is over, which the run is told', async () => {
    const record = scalarRecord('loss', 1, 1);
    const block = Buffer.concat(Array.from({ length: 50_000 }, () => record));
    writeFileSync(file(FILE), '');
    for (let blocks = 0; blocks < 10; blocks++) appendFileSync(file(FILE), block);
    const files = await open();
    await walk(files);
    await files.readRest(0);
    const title = 'Event files were not read to their end';
    expect(deliver().at(-1)).to.have.nested.include({ kind: 'event', 'body.title': title });
  });

  it('with too many names give those that a run has room for, and the rest is told once', async () => {
    const names = Array.from({ length: 10_100 }, (_, index) => scalarRecord(`layer-${index}`, 1, 1));
    writeFileSync(file(FILE), Buffer.concat([...names, ...names]));
    await walkAndRead(await open());
    const records = deliver();
    expect(new Set(points(records).map(({ name }) => name)).size).to.equal(10_000);
    expect(points(records)).to.have.length(20_000);
    expect(records.filter(({ kind }) => kind === 'event')).to.have.length(1);
  });

  it('with too many names give the same ones after a restart of the agent', async () => {
    const names = Array.from({ length: 10_100 }, (_, index) => scalarRecord(`layer-${index}`, 1, 1));
    writeFileSync(file(FILE), Buffer.concat(names));
    await walkAndRead(await open());
    const before = new Set(points(deliver()).map(({ name }) => name));
    appendFileSync(file(FILE), Buffer.concat(names.reverse()));
    await walkAndRead(await open());
    const after = points(deliver()).map(({ name }) => name);
    expect(new Set(after)).to.deep.equal(before);
    expect(after).to.have.length(10_000);
  });

  it('wait while the disk is full, which the log tells once, and lose neither a value nor a warning', async function () {
    const disk = SmallDisk.tryMount(paths.dir, 2);
    if (disk === null) return this.skip();
    try {
      mkdirSync(paths.spool);
      const warnings: string[] = [];
      const files = await open(
        0,
        async () => true,
        (message) => warnings.push(message),
      );
      const steps = (from: number) =>
        Array.from({ length: 2000 }, (_, index) => scalarRecord('loss', from + index, 1));
      writeFileSync(file('idle/' + FILE), scalarRecord('loss', 1, 1));
      writeFileSync(file('busy/' + FILE), Buffer.concat([scalarRecord('x'.repeat(251), 1, 1), ...steps(0)]));
      disk.fill();
      await walk(files);
      for (let tries = 0; tries < 20; tries++) await files.read();
      expect(readdirSync(paths.spool)).to.deep.equal([]);
      expect(warnings.filter((message) => message.includes('cannot be read now'))).to.have.length(1);
      disk.empty();
      appendFileSync(file('busy/' + FILE), Buffer.concat(steps(2000)));
      await files.readRest();
      const records = deliver();
      const found = points(records).filter(({ name }) => name.startsWith('busy'));
      expect(new Set(found.map(({ seq }) => seq)).size).to.equal(4000);
      expect(records.filter(({ kind }) => kind === 'event')).to.have.length(1);
    } finally {
      disk.unmount();
    }
  });

  it('beyond a thousand are left out, which is told once', async () => {
    for (let index = 0; index < 1002; index++) writeFileSync(file(`${FILE}.${index}`), '');
    await walkAndRead(await open());
    const records = deliver();
    expect(records).to.have.length(1);
    expect(records[0]).to.have.nested.include({ 'body.title': 'There are more than 1000 event files' });
  });

  it('leave out a name that no metric can have', async () => {
    writeFileSync(file(FILE), Buffer.concat([scalarRecord('x'.repeat(251), 1, 1), scalarRecord('ok', 2, 1)]));
    await walkAndRead(await open());
    const records = deliver();
    expect(points(records).map(({ name }) => name)).to.deep.equal(['ok']);
    expect(records.filter(({ kind }) => kind === 'event')).to.have.length(1);
  });
});
