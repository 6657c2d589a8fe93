import type { RunPaths } from '@svc/agent';
import { walkJobFiles } from '@svc/agent/job-files';
import { until } from '@svc/agent/testing';
import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AttemptCheckpoints } from '../src/agent/attempt-checkpoints.js';
import { candidateSelector, DEFAULT_DIRECTORIES, DEFAULT_FILES } from '../src/agent/candidates.js';
import { fingerprint, lookAt } from '../src/agent/content.js';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const SETTLE_MS = 60;
/** The end of an empty archive. */
const ZIP_END = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]);
const ZIP = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(100), ZIP_END]);

describe('the checkpoints of an attempt', () => {
  let root: string;
  let work: string;
  let number: number;
  let paths: RunPaths;
  let checkpoints: AttemptCheckpoints;
  beforeEach(async () => {
    root = mkdtempSync(path.join(tmpdir(), 'checkpoints-'));
    work = path.join(root, 'work');
    mkdirSync(work);
    enterAttempt(1);
    checkpoints = await open();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const open = (startedAt = 0, isOwn: () => Promise<boolean | null> = async () => true, most?: number) => {
    const ctx = { log: SILENT, signal: new AbortController().signal };
    const attempt = { job_id: 'job_1', attempt: number, startedAt, runId: `run_${number}`, paths };
    return AttemptCheckpoints.open(ctx, attempt, isOwn, SETTLE_MS, most);
  };
  function enterAttempt(wanted: number): void {
    number = wanted;
    const dir = path.join(root, `attempt-${number}`);
    paths = { dir, spool: path.join(dir, 'spool') } as RunPaths;
    mkdirSync(paths.spool, { recursive: true });
  }
  const select = candidateSelector(DEFAULT_DIRECTORIES, DEFAULT_FILES);
  const look = async () => checkpoints.take(await walkJobFiles([work], select));

  function write(name: string, content: string | Buffer = 'weights'): string {
    const file = path.join(work, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }
  function safetensors(bytes: number): Buffer {
    const header = Buffer.from(JSON.stringify({ w: { dtype: 'U8', shape: [8], data_offsets: [0, 8] } }));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    return Buffer.concat([length, header, Buffer.alloc(bytes)]);
  }

  const records = (): SpoolRecord[] =>
    readdirSync(paths.spool)
      .sort()
      .flatMap((name) => readFileSync(path.join(paths.spool, name), 'utf8').trim().split('\n'))
      .filter((line) => line !== SPOOL_END)
      .map((line) => JSON.parse(line) as SpoolRecord);
  const found = () =>
    records().flatMap((record) =>
      record.kind === 'checkpoint' ? [path.relative(work, record.body.path)] : [],
    );
  const gone = () =>
    records().flatMap((record) =>
      record.kind === 'checkpoint_gone' ? [path.relative(work, record.body.path)] : [],
    );

  /** Looks and settles again and again until all of these are registered, and then as long as settling takes once more. */
  async function untilFound(...names: string[]): Promise<void> {
    await until(async () => {
      await look();
      await checkpoints.settle();
      return found().length >= names.length;
    }, 'the checkpoints');
    await checkpoints.settleRest();
    expect(found()).to.have.members(names);
  }

  /** Twice with the pause that settling takes. */
  async function settleAll(): Promise<void> {
    await checkpoints.settle({ isLast: true });
    const from = performance.now();
    await until(() => performance.now() - from > SETTLE_MS, 'the pause');
    await checkpoints.settle({ isLast: true });
  }

  it('are registered once, with step, size and fingerprint', async () => {
    write('out/model_step_100.pt', ZIP);
    await untilFound('out/model_step_100.pt');
    await look();
    await checkpoints.settleRest();
    const [record, ...others] = records();
    expect(others).to.deep.equal([]);
    expect(record).to.have.nested.include({
      kind: 'checkpoint',
      source: 'watcher',
      'body.step': 100,
      'body.size': ZIP.length,
      'body.metadata.files': 1,
    });
    expect(record)
      .to.have.nested.property('body.metadata.fingerprint')
      .that.matches(/^sha256:[0-9a-f]{64}$/);
  });

  it('are files of every format, and directories, with the step of trainer_state.json', async () => {
    const files = ['a.pt', 'b.pth', 'c.ckpt', 'e.h5', 'f.keras', 'g.npz', 'h.msgpack'];
    for (const name of files) write(name, ZIP);
    write('d.safetensors', safetensors(8));
    write('checkpoint-500/model.safetensors', safetensors(8));
    write('checkpoint-500/trainer_state.json', JSON.stringify({ global_step: 501, epoch: 1.5 }));
    write('checkpoint-500/optimizer.pt', ZIP);
    await untilFound(...files, 'd.safetensors', 'checkpoint-500');
    const directory = records().find(
      (record) => record.kind === 'checkpoint' && record.body.path.endsWith('500'),
    );
    expect(directory).to.have.nested.include({
      'body.step': 501,
      'body.epoch': 1.5,
      'body.metadata.files': 3,
    });
  });

  it('are none while a process has them open, however still they are', async () => {
    const file = write('slow.ckpt', 'half');
    const descriptor = openSync(file, 'a');
    write('other.h5');
    await untilFound('other.h5');
    writeSync(descriptor, ' and half');
    closeSync(descriptor);
    await untilFound('other.h5', 'slow.ckpt');
  });

  it('that never become whole give way to others, however many there are', async () => {
    for (let index = 0; index < 1000; index++) write(`cut-${index}.pt`, ZIP.subarray(0, -10));
    await look();
    await settleAll();
    write('whole.pt', ZIP);
    await untilFound('whole.pt');
  });

  it('are none while they grow', async () => {
    const file = write('growing.h5');
    let appended = 0;
    for (const until = performance.now() + 5 * SETTLE_MS; performance.now() < until; appended++) {
      appendFileSync(file, 'x');
      await look();
      await checkpoints.settle();
    }
    expect(found()).to.deep.equal([]);
    await untilFound('growing.h5');
  });

  it('are none while something is missing', async () => {
    write('cut.pt', ZIP.subarray(0, -10));
    write('cut.safetensors', safetensors(7));
    write('empty.ckpt', '');
    write('checkpoint-1/model.safetensors', safetensors(3));
    write('checkpoint-2/training_args.bin', ZIP);
    write('checkpoint-3/weights.bin.tmp');
    write('model.pt.tmp', ZIP);
    write('model.part', ZIP);
    write('.hidden.pt', ZIP);
    for (const name of ['optimizer.pt', 'rng_state_0.pth', 'scaler-1.pt']) write(name, ZIP);
    write('whole.pt', ZIP);
    await untilFound('whole.pt');
    write('checkpoint-2/trainer_state.json', '{"global_step": 2}');
    renameSync(path.join(work, 'model.pt.tmp'), path.join(work, 'model.pt'));
    await untilFound('whole.pt', 'checkpoint-2', 'model.pt');
  });

  it('in several files are one, their folder, once all are there', async () => {
    const weight_map = { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' };
    write('final/model.safetensors.index.json', JSON.stringify({ weight_map }));
    write(`final/${weight_map.a}`, safetensors(8));
    write('other.pt', ZIP);
    await untilFound('other.pt');
    write(`final/${weight_map.b}`, safetensors(8));
    await untilFound('other.pt', 'final');
  });

  it('with a header, an index and a state that are too long to be parsed are checked by their ends', async () => {
    const MIB = 1024 * 1024;
    const writeSparse = (name: string, head: string | Buffer, bytes: number, tail: string) => {
      const file = write(name, head);
      truncateSync(file, bytes - tail.length);
      appendFileSync(file, tail);
    };
    const header = Buffer.alloc(8);
    header.writeBigUInt64LE(BigInt(2 * MIB));
    const tensor = '"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}';
    for (const [name, bytes] of [
      ['long.safetensors', 8],
      ['cut.safetensors', 7],
    ] as const) {
      writeSparse(name, header, 8 + 2 * MIB, tensor);
      appendFileSync(path.join(work, name), Buffer.alloc(bytes));
    }
    const shard = 'model-00001-of-00001.safetensors';
    write(`final/${shard}`, safetensors(8));
    writeSparse('final/model.safetensors.index.json', `{"weight_map":{"a":"${shard}",`, 20 * MIB, '}}');
    write('checkpoint-5/w.bin');
    writeSparse('checkpoint-5/trainer_state.json', '{"epoch": 1.5, "global_step": 7,', 80 * MIB, ']}');
    await untilFound('long.safetensors', 'final', 'checkpoint-5');
    const state = records().find((record) => record.kind === 'checkpoint' && record.body.step === 7);
    expect(state).to.have.nested.include({ 'body.epoch': 1.5 });
  });

  it('do not follow an index out of their folder', async () => {
    write('final/model.safetensors.index.json', JSON.stringify({ weight_map: { a: '../../secret' } }));
    write('other.pt', ZIP);
    await untilFound('other.pt');
  });

  it('that are written on afterwards are sent again, with the new facts', async () => {
    write('checkpoint-1/w.bin');
    await untilFound('checkpoint-1');
    write('checkpoint-1/second.bin', 'more weights');
    await untilFound('checkpoint-1', 'checkpoint-1');
    const [first, second] = records().map((record) => (record.kind === 'checkpoint' ? record.body : null));
    expect(second).to.deep.include({ path: first!.path, size: 'weightsmore weights'.length });
    expect(second!.metadata).to.not.deep.equal(first!.metadata);
  });

  it('of a training that failed are none when their format cannot tell whether they are whole', async () => {
    const superblock = Buffer.alloc(48);
    Buffer.from('\x89HDF\r\n\x1a\n', 'latin1').copy(superblock);
    superblock[8] = 2;
    superblock[9] = 8;
    superblock.writeBigUInt64LE(64n, 28);
    write('cut.h5', superblock);
    write('whole.h5', Buffer.concat([superblock, Buffer.alloc(16)]));
    write('legacy.pth', 'pickle');
    write('zip.pt', ZIP);
    const old = write('earlier.msgpack');
    utimesSync(old, new Date(), new Date(Date.now() - 60_000));
    await look();
    await checkpoints.settleRest({ isCutOff: true });
    expect(found()).to.have.members(['whole.h5', 'zip.pt', 'earlier.msgpack']);
  });

  it('beyond the most are left out, which is told once', async () => {
    checkpoints = await open(0, async () => true, 1);
    for (const name of ['one.npz', 'two.npz', 'three.npz']) {
      write(name, ZIP);
      await look();
      await settleAll();
    }
    const told = records().flatMap((each) => (each.kind === 'event' ? [each.body.title] : []));
    expect(told).to.deep.equal(['There are more than 1 checkpoints']);
    expect(found()).to.deep.equal(['one.npz']);
  });

  it('that are deleted are told, and come again', async () => {
    write('checkpoint-1/w.bin');
    await untilFound('checkpoint-1');
    rmSync(path.join(work, 'checkpoint-1'), { recursive: true });
    await look();
    await look();
    expect(gone()).to.deep.equal(['checkpoint-1']);
    write('checkpoint-1/w.bin');
    await untilFound('checkpoint-1', 'checkpoint-1');
  });

  it('are told as gone after a restart of the agent, and not registered again', async () => {
    write('a.pt', ZIP);
    write('b.pt', ZIP);
    await untilFound('a.pt', 'b.pt');
    checkpoints = await open();
    rmSync(path.join(work, 'a.pt'));
    await look();
    await checkpoints.settleRest();
    expect(gone()).to.deep.equal(['a.pt']);
    expect(found()).to.have.length(2);
  });

  it('of before the attempt, and of others, are left out', async () => {
    const old = write('pretrained.pt', ZIP);
    utimesSync(old, 1000, 1000);
    write('new.pt', ZIP);
    checkpoints = await open(Date.now() - 60_000);
    await untilFound('new.pt');
    checkpoints = await open(0, async () => false);
    write('others.pt', ZIP);
    await look();
    await checkpoints.settleRest();
    expect(found()).to.deep.equal(['new.pt']);
  });

  it('of before the attempt count once they are written again', async () => {
    const files = ['last.ckpt', 'checkpoint-1/w.bin'].map((name) => write(name));
    for (const file of files) utimesSync(file, 1000, 1000);
    checkpoints = await open(Date.now() - 60_000);
    write('other.pt', ZIP);
    await untilFound('other.pt');
    for (const file of files) writeFileSync(file, 'new weights');
    await untilFound('other.pt', 'last.ckpt', 'checkpoint-1');
  });

  it('of an earlier attempt are not those of the next one, until they are written again', async () => {
    for (const name of ['kept.pt', 'rotated.pt', 'last.pt']) write(name, ZIP);
    await untilFound('kept.pt', 'rotated.pt', 'last.pt');
    enterAttempt(2);
    // The clock of a file server may be ahead: their times do not tell.
    checkpoints = await open(0);
    write('new.pt', ZIP);
    await untilFound('new.pt');
    expect(gone()).to.deep.equal([]);

    enterAttempt(3);
    checkpoints = await open(0);
    rmSync(path.join(work, 'rotated.pt'));
    write('last.pt', Buffer.concat([ZIP, ZIP]));
    await untilFound('last.pt');
    const told = records().flatMap((record) =>
      record.kind === 'checkpoint_gone' ? [{ run_id: record.run_id, ...record.body }] : [],
    );
    const earlier = (name: string) => ({ run_id: 'run_3', path: path.join(work, name), earlier: true });
    expect(told).to.have.deep.members([earlier('rotated.pt'), earlier('last.pt')]);
  });

  it('that are directories with a pipe in place of their state do not hold anybody up', async () => {
    write('checkpoint-7/w.bin');
    execFileSync(
      'mkfifo',
      ['checkpoint-7/trainer_state.json', 'pipe.pt'].map((name) => path.join(work, name)),
    );
    await untilFound('checkpoint-7');
    expect(records()[0]).to.have.nested.include({ 'body.step': 7, 'body.metadata.files': 1 });
  });

  it('have a fingerprint that a change of any sampled part changes', async () => {
    const bytes = Buffer.alloc(2 * 1024 * 1024, 'a');
    const file = write('big.h5', bytes);
    const print = async () => {
      utimesSync(file, 1000, 1000);
      return fingerprint((await lookAt(file))!);
    };
    const first = await print();
    expect(await print()).to.equal(first);
    for (const at of [0, bytes.length - 1, Math.floor((bytes.length * 5) / 17)]) {
      writeFileSync(file, Buffer.from(bytes).fill('b', at, at + 1));
      expect(await print(), `byte ${at}`).to.not.equal(first);
    }
  });
});
