import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadSettings } from '../src/settings.js';
import { startRecordingServer, type RecordingServer } from './recording-server.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SDK = path.join(ROOT, 'sdk', 'typescript', 'src', 'index.ts');
const AWAY = 'http://127.0.0.1:9';

describe('init of the TypeScript SDK', function () {
  let dir: string;
  let server: RecordingServer;
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-sdk-'));
    server = await startRecordingServer();
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true });
    await server.close();
  });

  /** Runs a script that has `init`, and answers how it ended. */
  function train(
    script: string,
    env: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; signal: string | null; stderr: string }> {
    const code = `import { checkpoint, event, finish, init, log } from ${JSON.stringify(SDK)};\n${script}`;
    const args = ['--import', 'tsx', '--conditions=svc-source', '--input-type=module', '-e', code];
    const tsx = { ESBK_TSCONFIG_PATH: path.join(ROOT, 'tsconfig.json') };
    const all = { PATH: process.env['PATH'], HOME: dir, ...tsx, ...env };
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: all,
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, stderr })));
  }
  const spooled = () =>
    readdirSync(path.join(dir, 'spool')).flatMap((name) =>
      readFileSync(path.join(dir, 'spool', name), 'utf8')
        .trimEnd()
        .split('\n'),
    );
  const inJob = (url: string) => {
    mkdirSync(path.join(dir, 'spool'), { recursive: true });
    return { SVC_URL: url, SVC_TOKEN: 't', SVC_RUN_ID: 'run_1', SVC_SPOOL_DIR: path.join(dir, 'spool') };
  };

  it('makes a run, and the clean end of the process ends it', async () => {
    const script = `const run = await init({ name: 'a', config: { lr: 1, token: 'x' }, maxSteps: 9, tags: ['t'] });
      run.log({ loss: 1 });`;
    await train(script, { SVC_URL: server.url, SVC_TOKEN: 't' });
    const [create, ...rest] = server.requests;
    expect(create).to.deep.include({ method: 'POST', path: '/api/v1/runs' });
    expect(create!.body).to.deep.include({ name: 'a', max_steps: 9, tags: ['t'], source: 'sdk' });
    expect(create!.body['config']).to.deep.equal({ lr: 1, token: '***' });
    expect(server.points()).to.have.length(1);
    expect(rest.at(-1)!.body).to.deep.equal({ status: 'SUCCEEDED' });
  });

  it('attaches to the run of a job, describes it, and leaves its end to the server', async () => {
    await train(`(await init({ config: { lr: 1 } })).log({ loss: 1 });`, inJob(server.url));
    const [update, points, ...rest] = server.requests;
    expect([update!.method, update!.path]).to.deep.equal(['PATCH', '/api/v1/runs/run_1']);
    expect(update!.body['config']).to.deep.equal({ lr: 1 });
    expect(points!.body.points).to.have.length(1);
    expect(rest).to.deep.equal([]);
  });

  it('fills in a job what the submit left open, and says once what it could not change', async () => {
    server.kept = { name: 'train', project: 'vision' };
    const script = `const run = await init({ name: 'a', project: 'p', experiment: 'e', tags: ['t'], config: { lr: 1 } });
      run.updateConfig({ lr: 2 });`;
    const { stderr } = await train(script, { ...inJob(server.url), SVC_QUIET: '1' });
    expect(server.requests.slice(0, 2).map(({ body }) => body)).to.deep.include.members([
      { fill: { name: 'a', project: 'p', experiment: 'e', tags: ['t'] } },
    ]);
    expect(stderr).to.equal('svc: this run keeps its name "train", project "vision", decided before init\n');
  });

  it('prints the link of the run, unless it is to be quiet', async () => {
    const env = { SVC_URL: server.url, SVC_TOKEN: 't' };
    const link = `svc: the run made is at ${server.url}/runs/run_1\n`;
    expect((await train(`await init();`, env)).stderr).to.equal(link);
    expect((await train(`await init({ quiet: true });`, env)).stderr).to.equal('');
    expect((await train(`await init();`, { ...env, SVC_QUIET: 'yes' })).stderr).to.equal('');
    const inOne = { ...inJob(server.url), SVC_JOB_ID: 'job_1' };
    expect((await train(`await init();`, inOne)).stderr).to.include('the run of this job is at');
    expect((await train(`await init();`, { ...inOne, RANK: '1' })).stderr).to.equal('');
  });

  it('prints the address for people, and not the secret one of a container', async () => {
    const inContainer = { ...inJob(`${server.url}/secret`), SVC_CONSOLE_URL: 'http://train.example.org/' };
    const { stderr } = await train(`await init();`, { ...inContainer, SVC_JOB_ID: 'job_1' });
    expect(stderr).to.contain('is at http://train.example.org/runs/run_1\n').and.not.contain('secret');
  });

  it('reports to the current run by the functions of the module, and a second init ends the first', async () => {
    const script = `
      let problem = null;
      try { log({ a: 1 }); } catch (error) { problem = error.message; }
      await init({ name: problem });
      log({ first: 1 });
      const second = await init();
      const third = await init({ reinit: 'new' });
      log({ third: 1 });
      await third.finish();
      log({ second: 1 });
      event('hello');
      checkpoint('model.bin');
      await finish('FAILED');
      log({ late: 1 });`;
    const { code } = await train(script, { SVC_URL: server.url, SVC_TOKEN: 't' });
    expect(code).to.equal(0);
    expect(server.requests[0]!.body['name']).to.equal('there is no run in this process: call init() first');
    expect(server.points().map(({ name }) => name)).to.deep.equal(['first', 'third', 'second']);
    const ends = server.requests
      .filter(({ path: at }) => at.endsWith('/finish'))
      .map(({ body }) => body['status']);
    expect(ends).to.deep.equal(['SUCCEEDED', 'SUCCEEDED', 'FAILED']);
    const told = server.requests.map(({ path: at }) => at.split('/').at(-1));
    expect(told).to.include.members(['events', 'checkpoints']);
  });

  it('refuses another reinit at once', async () => {
    const { code, stderr } = await train(`await init({ reinit: true });`, { SVC_URL: server.url });
    expect([code, server.requests]).to.deep.equal([1, []]);
    expect(stderr).to.include('reinit "true" is not one of end, new');
  });

  it('writes to the spool what a process leaves behind that exits at once', async () => {
    const { code } = await train(`(await init()).log({ loss: 1 }); process.exit(3);`, inJob(AWAY));
    expect(code).to.equal(3);
    const lines = spooled();
    expect(lines.join('\n'))
      .to.include('"name":"loss"')
      .and.include('{"kind":"finish","body":{"status":"FAILED"}');
    expect(lines.at(-1)).to.equal('{"kind":"end"}');
  });

  it('dies of SIGTERM as it would have, once all is spooled', async () => {
    const script = `(await init()).log({ loss: 1 }); setInterval(() => {}, 1000); process.kill(process.pid, 'SIGTERM');`;
    expect(await train(script, inJob(AWAY))).to.include({ code: null, signal: 'SIGTERM' });
    expect(spooled().join('\n')).to.include('"name":"loss"').and.not.include('finish');
  });

  it('does nothing when it is disabled', async () => {
    const { code } = await train(`const run = await init(); run.log({ a: 1 }); await run.finish();`, {
      SVC_MODE: 'disabled',
      SVC_URL: server.url,
    });
    expect([code, server.requests]).to.deep.equal([0, []]);
  });

  it('takes its settings from the variables of the Python SDK', () => {
    const settings = loadSettings({
      SVC_URL: 'http://host/',
      SVC_TOKEN: ' t ',
      SVC_JOB_ID: 'job_1',
      SVC_RUN_ID: 'run_1',
      SVC_ATTEMPT: '2',
      RANK: '3',
      SVC_INIT_TIMEOUT_S: '0.5',
      SVC_FLUSH_TIMEOUT_S: 'soon',
      SVC_QUEUE_POINTS: '10',
      SVC_SPOOL_DIR: '/spool',
      SVC_SPOOL_BYTES: '100',
      SVC_DATA_DIR: dir,
    });
    expect(settings).to.deep.equal({
      mode: 'online',
      server: { url: 'http://host', token: 't' },
      consoleUrl: 'http://host',
      jobId: 'job_1',
      runId: 'run_1',
      attempt: 2,
      isSecondaryRank: true,
      allRanks: false,
      initTimeoutMs: 500,
      flushTimeoutMs: 10_000,
      queuePoints: 10,
      spoolDir: '/spool',
      spoolBytes: 100,
      isQuiet: false,
    });
  });
});
