import type { RunPaths } from '@svc/agent';
import { walkJobFiles } from '@svc/agent/job-files';
import { until } from '@svc/agent/testing';
import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { expect } from 'chai';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AttemptCheckpoints } from '../src/agent/attempt-checkpoints.js';
import { candidateSelector, DEFAULT_DIRECTORIES, DEFAULT_FILES } from '../src/agent/candidates.js';

const SETTLE_MS = 60;
const select = candidateSelector(DEFAULT_DIRECTORIES, DEFAULT_FILES);

describe('many candidates for checkpoints', () => {
  let root: string;
  let work: string;
  let paths: RunPaths;
  let warnings: string[];
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'candidates-'));
    work = path.join(root, 'work');
    paths = { dir: root, spool: path.join(root, 'spool') } as RunPaths;
    for (const folder of [work, paths.spool]) mkdirSync(folder);
    warnings = [];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function open({ settleMs = SETTLE_MS, most }: { settleMs?: number; most?: number } = {}) {
    const warn = (message: string) => warnings.push(message);
    const log = { debug: () => {}, info: () => {}, warn, error: () => {} };
    const attempt = { job_id: 'job_1', attempt: 1, startedAt: 0, runId: 'run_1', paths };
    const ctx = { log, signal: new AbortController().signal };
    return AttemptCheckpoints.open(ctx, attempt, async () => true, settleMs, most);
  }
  const look = async (checkpoints: AttemptCheckpoints) =>
    checkpoints.take(await walkJobFiles([work], select));

  function write(name: string): string {
    const file = path.join(work, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'weights');
    return file;
  }
  function writeShards(count: number): void {
    for (let index = 0; index < count; index++) write(`shard-${index}.npz`);
  }
  async function pass(ms: number): Promise<void> {
    const from = performance.now();
    await until(() => performance.now() - from > ms, 'the pause');
  }

  const records = () =>
    readdirSync(paths.spool)
      .flatMap((name) => readFileSync(path.join(paths.spool, name), 'utf8').trim().split('\n'))
      .filter((line) => line !== SPOOL_END)
      .map((line) => JSON.parse(line) as SpoolRecord);
  const found = () =>
    records().flatMap((each) => (each.kind === 'checkpoint' ? [path.relative(work, each.body.path)] : []));
  const events = () => records().flatMap((each) => (each.kind === 'event' ? [each.body] : []));

  it('are all registered at the end, also where they are found only then', async () => {
    writeShards(2100);
    for (const name of ['late/model_step_500.pt', 'late/zz_step_900.pt', 'checkpoint-7/w.bin']) write(name);
    const checkpoints = await open();
    await look(checkpoints);
    await checkpoints.settleRest();
    expect(new Set(found()).size).to.equal(2103);
    expect(events()).to.deep.equal([]);
  });

  it('are registered one thousand after the other without another walk, those that are likely to be checkpoints first', async () => {
    writeShards(1200);
    for (const name of ['late/a.pt', 'late/step_3.npz']) write(name);
    const checkpoints = await open();
    await look(checkpoints);
    await pass(SETTLE_MS);
    await checkpoints.settle({ isLast: true });
    expect(found()).to.include.members(['late/a.pt', 'late/step_3.npz']).and.have.length(1000);
    await checkpoints.settle({ isLast: true });
    expect(found()).to.have.length(1202);
  });

  it('do not push out one that is being written', async () => {
    const file = write('slow.pt');
    const descriptor = openSync(file, 'a');
    const checkpoints = await open();
    await look(checkpoints);
    await pass(SETTLE_MS);
    await checkpoints.settle({ isLast: true });
    writeShards(1100);
    await look(checkpoints);
    closeSync(descriptor);
    await checkpoints.settleRest();
    expect(found()).to.include('slow.pt').and.have.length(1101);
  });

  it('leave a turn to one that was written last, also when there is little time at the end', async () => {
    writeShards(1900);
    const checkpoints = await open();
    await look(checkpoints);
    await pass(SETTLE_MS);
    write('last.pt');
    await look(checkpoints);
    await checkpoints.settleRest({ mostMs: SETTLE_MS + 100 });
    expect(found()).to.include('last.pt');
  });

  it('for which the time at the end is too short are told once', async () => {
    writeShards(1005);
    const checkpoints = await open({ settleMs: 3_600_000 });
    await look(checkpoints);
    for (let times = 0; times < 2; times++) await checkpoints.settleRest({ mostMs: 0 });
    const told = events();
    expect(told).to.have.length(1);
    expect(told[0]!.title).to.match(/^Some checkpoints were not registered/);
    expect(told[0]!.message).to.include('one of 1005 files and folders');
  });

  it('that settle together are registered up to the most of an attempt, and no further', async () => {
    writeShards(12);
    const checkpoints = await open({ most: 5 });
    await look(checkpoints);
    await checkpoints.settleRest();
    expect(found()).to.have.length(5);
    expect(events().map(({ title }) => title)).to.deep.equal(['There are more than 5 checkpoints']);
  });

  it('wait while the spool takes nothing, which the log tells once', async () => {
    write('a.pt');
    const checkpoints = await open();
    await look(checkpoints);
    await pass(SETTLE_MS);
    rmSync(paths.spool, { recursive: true });
    writeFileSync(paths.spool, 'no folder');
    for (let tries = 0; tries < 5; tries++) await checkpoints.settle({ isLast: true });
    expect(warnings).to.deep.equal(['checkpoints cannot be registered now']);
    rmSync(paths.spool);
    mkdirSync(paths.spool);
    await checkpoints.settleRest();
    expect(found()).to.deep.equal(['a.pt']);
  });
});
