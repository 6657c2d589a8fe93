import { AttemptOwners, type WrittenFile } from '@svc/agent/attempt-owners';
import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';

/** Opens argv[1], keeps it open, and ends with its input. */
const HOLDER = `require('node:fs').openSync(process.argv[1], 'a'); process.stdin.resume(); process.stdin.on('end', () => process.exit());`;
/** Writes argv[1] and closes it at once, again after each line of its input. */
const WRITER = `const write = () => require('node:fs').writeFileSync(process.argv[1].replace('PID', process.pid), 'x'); write(); process.stdin.on('data', write); process.stdin.on('end', () => process.exit());`;

describe('the owners of files', function () {
  let root: string;
  let work: string;
  let owners: AttemptOwners;
  let leave: Map<string, () => Promise<void>>;
  let processes: ChildProcess[];
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'owners-')));
    work = path.join(root, 'work');
    mkdirSync(work);
    owners = new AttemptOwners('test');
    leave = new Map();
    processes = [];
  });
  afterEach(async () => {
    await Promise.all(processes.map(end));
    for (const each of leave.values()) await each();
    rmSync(root, { recursive: true });
  });

  async function enter(job_id: string, startedAt = Date.now() - 1000, roots = [work]) {
    const dir = path.join(root, job_id);
    mkdirSync(dir, { recursive: true });
    const attempt = { job_id, attempt: 1, startedAt, paths: { dir } };
    leave.set(job_id, await owners.enter(attempt, roots));
    return attempt;
  }
  async function exit(job_id: string) {
    await leave.get(job_id)!();
    leave.delete(job_id);
  }
  function start(job_id: string, program: string, file: string): ChildProcess {
    const env = { ...process.env, SVC_JOB_ID: job_id, SVC_ATTEMPT: '1' };
    const child = spawn(process.execPath, ['-e', program, file], {
      env,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    processes.push(child);
    return child;
  }
  async function end(child: ChildProcess): Promise<void> {
    child.stdin!.end();
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  }
  const at = (name: string) => path.join(work, name);
  const written = (file: string): WrittenFile => {
    const stats = statSync(file);
    return { path: file, writtenAt: stats.mtimeMs, files: [stats] };
  };
  const untilThere = (file: string) => until(() => existsSync(file), file);
  const eventFile = (pid: string | number, host = hostname()) =>
    at(`events.out.tfevents.${Math.floor(Date.now() / 1000)}.${host}.${pid}.0`);

  it('are the attempts that work there alone', async () => {
    const a = await enter('a');
    await enter('b', Date.now(), [path.join(root, 'elsewhere')]);
    writeFileSync(at('x'), '');
    expect(await owners.isOf(a, written(at('x')))).to.equal(true);
  });

  it('are those whose process has the file open, also when it is renamed then', async () => {
    const [a, b] = [await enter('a'), await enter('b')];
    const holder = start('b', HOLDER, at('x.tmp'));
    await untilThere(at('x.tmp'));
    await until(async () => (await owners.isOf(b, written(at('x.tmp')))) === true, 'the opener');
    await end(holder);
    renameSync(at('x.tmp'), at('x'));
    expect(await owners.isOf(a, written(at('x')))).to.equal(false);
    expect(await owners.isOf(b, written(at('x')))).to.equal(true);
  });

  it('are those after whose process the file is named, also when it has ended', async () => {
    const [a, b] = [await enter('a'), await enter('b')];
    const writer = start('a', WRITER, eventFile('PID'));
    const file = eventFile(writer.pid!);
    await untilThere(file);
    await until(async () => (await owners.isOf(a, written(file))) === true, 'the writer');
    await end(writer);
    expect(await owners.isOf(b, written(file))).to.equal(false);
    const elsewhere = eventFile(writer.pid!, 'another-host');
    writeFileSync(elsewhere, '');
    expect(await owners.isOf(a, written(elsewhere))).to.equal(null);
  });

  it('are not those whose process came by its pid later', async () => {
    const [a] = [await enter('a'), await enter('b')];
    const writer = start('a', WRITER, at('x'));
    await untilThere(at('x'));
    const old = at(`events.out.tfevents.1700000000.${hostname()}.${writer.pid}.0`);
    writeFileSync(old, '');
    expect(await owners.isOf(a, written(old))).to.equal(null);
  });

  it('are seen while they write for a moment', async () => {
    const [a, b] = [await enter('a'), await enter('b')];
    const holder = start('a', HOLDER, at('x'));
    await untilThere(at('x'));
    await until(async () => (await owners.isOf(a, written(at('x')))) === true, 'the processes');
    const second = start('b', HOLDER, at('y'));
    await until(() => {
      owners.notice(a);
      return existsSync(at('y'));
    }, 'the file');
    await until(async () => (await owners.isOf(b, written(at('y')))) === true, 'the opener');
    await Promise.all([end(holder), end(second)]);
    expect(await owners.isOf(a, written(at('y')))).to.equal(false);
  });

  it('are not the survivors by default, also after a restart of the agent', async () => {
    let a = await enter('a');
    await enter('b');
    writeFileSync(at('x'), '');
    expect(await owners.isOf(a, written(at('x')))).to.equal(null);
    await exit('b');
    expect(await owners.isOf(a, written(at('x')))).to.equal(null);
    await enter('c');
    writeFileSync(at('y'), '');
    owners = new AttemptOwners('test');
    a = await enter('a', a.startedAt);
    expect(await owners.isOf(a, written(at('x')))).to.equal(null);
    expect(await owners.isOf(a, written(at('y')))).to.equal(null);
  });

  it('are the survivors for what is written after the others have ended, or before they came', async () => {
    const a = await enter('a');
    writeFileSync(at('before'), '');
    utimesSync(at('before'), new Date(), new Date(Date.now() - 60_000));
    await enter('b');
    await exit('b');
    await until(() => {
      appendFileSync(at('after'), 'x');
      return owners.isOf(a, written(at('after'))).then((isOwn) => isOwn === true);
    }, 'the clock');
    expect(await owners.isOf(a, written(at('before')))).to.equal(true);
  });
});
