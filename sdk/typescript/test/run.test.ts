import { SpoolRecord } from '@svc/contract';
import { createClient, pause } from '@svc/client';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Value } from 'typebox/value';
import { OfflineFolder } from '../src/offline-folder.js';
import { ReportingRun, type RunFacts } from '../src/run.js';
import { ServerSink } from '../src/sink.js';
import { Spool } from '../src/spool.js';
import { startRecordingServer, type RecordingServer } from './recording-server.js';

const FACTS: RunFacts = {
  id: 'run_1',
  name: null,
  url: null,
  isAttached: false,
  isDescribed: true,
  config: {},
  signEveryMs: null,
  queuePoints: 1000,
  flushTimeoutMs: 60_000,
};
const AWAY = 'http://127.0.0.1:9';

describe('a run of the TypeScript SDK', () => {
  let dir: string;
  let former: string;
  let server: RecordingServer;
  const { write } = process.stderr;
  beforeEach(async () => {
    process.stderr.write = () => true;
    server = await startRecordingServer();
    former = process.cwd();
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-sdk-'));
    process.chdir(dir);
  });
  afterEach(async () => {
    process.stderr.write = write;
    process.chdir(former);
    rmSync(dir, { recursive: true });
    await server.close();
  });

  const spoolDir = () => path.join(dir, 'spool');
  function startRun(
    url = server.url,
    { spool = false, ...facts }: Partial<typeof FACTS> & { spool?: boolean } = {},
  ) {
    if (spool) mkdirSync(spoolDir());
    const client = createClient({ url, token: 't' }, { timeoutMs: 10_000 });
    const files = spool ? new Spool(spoolDir(), 'run_1', 2 ** 20) : null;
    const sink = new ServerSink(client, 'run_1', new OfflineFolder('run_1', {}), files);
    return new ReportingRun({ ...FACTS, ...facts }, sink, []);
  }
  const linesOf = (file: string): Record<string, unknown>[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const offline = (name: string) => path.join(dir, 'svc-offline', 'run_1', name);
  const spooled = () => readdirSync(spoolDir()).flatMap((name) => linesOf(path.join(spoolDir(), name)));

  it('sends what is logged together, numbered without gaps, and ends last', async () => {
    const run = startRun();
    run.log({ loss: 1, eval: { acc: 0.5 } }, { step: 7, epoch: 0.5 });
    run.log({ loss: NaN, big: 3n });
    await run.finish();
    const [first, last] = server.requests;
    const points = first!.body.points!;
    expect(points.map(({ name, step, value, epoch }) => [name, step, value, epoch])).to.deep.equal([
      ['loss', 7, 1, 0.5],
      ['eval/acc', 7, 0.5, 0.5],
      ['loss', 8, 'NaN', undefined],
      ['big', 8, 3, undefined],
    ]);
    expect(points.map(({ seq }) => seq - points[0]!.seq)).to.deep.equal([0, 1, 2, 3]);
    expect([last!.path, last!.body]).to.deep.equal(['/api/v1/runs/run_1/finish', { status: 'SUCCEEDED' }]);
  });

  it('sends a batch that was not answered again as it was, and nothing is there twice', async () => {
    let refusals = 3;
    server.refuse = () => (refusals-- > 0 ? 503 : null);
    const run = startRun();
    run.log({ loss: 1 });
    expect(await run.flush()).to.equal(true);
    expect(server.requests).to.have.length(4);
    for (const { body } of server.requests) expect(body).to.deep.equal(server.requests[0]!.body);
    expect(server.points()).to.have.length(1);
  });

  it('tells of a checkpoint in a mount of its container with the path on the host', async () => {
    process.env['SVC_PATH_MAP'] = JSON.stringify({ [dir]: '/data', [`${dir}/ck`]: '/scratch/ck' });
    try {
      mkdirSync('ck');
      writeFileSync('ck/model.bin', 'x'.repeat(321));
      writeFileSync('model.bin', 'x');
      const run = startRun();
      for (const file of ['ck/model.bin', 'model.bin', '/elsewhere.bin']) run.checkpoint(file);
      await run.flush();
      const sent = server.requests.filter(({ path: at }) => at.endsWith('/checkpoints'));
      const bodies = sent.map(({ body }) => body as { path: string; size: number });
      expect(bodies.map((body) => body.path)).to.deep.equal([
        '/scratch/ck/model.bin',
        '/data/model.bin',
        '/elsewhere.bin',
      ]);
      expect(bodies[0]?.size).to.equal(321);
    } finally {
      delete process.env['SVC_PATH_MAP'];
    }
  });

  it('gives events a key of their own, checkpoints their size, and shows no secret', async () => {
    writeFileSync('model.bin', 'x'.repeat(321));
    const run = startRun();
    run.log({ loss: 1 }, { step: 5 });
    run.checkpoint('model.bin', { metadata: { api_key: 'abc' } });
    run.event('with hf_abcdefghijklmnopqrst', { severity: 'warning', data: { a: 1 } });
    await run.flush();
    const checkpoint = server.requests.find(({ path: at }) => at.endsWith('/checkpoints'))!;
    expect(checkpoint.body).to.deep.equal({
      path: path.join(dir, 'model.bin'),
      step: 5,
      size: 321,
      metadata: { api_key: '***' },
    });
    const event = server.requests.find(({ path: at }) => at.endsWith('/events'))!;
    expect(event.body).to.deep.equal({ title: 'with ***', severity: 'warning', data: { a: 1 } });
    expect(event.key).to.have.length.above(30);
  });

  it('never throws, whatever it is given', async () => {
    const run = startRun();
    const odd = run as unknown as Record<string, (...values: unknown[]) => unknown>;
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    odd['log']!(null);
    odd['log']!({ text: 'x', '': 1, ['n'.repeat(300)]: 1, 'a\n': 1, good: 1 });
    odd['log']!({ x: 1 }, { step: 1.5 });
    odd['log']!({ y: 1 }, { epoch: NaN });
    odd['event']!(undefined, { severity: 'loud', data: circle });
    odd['checkpoint']!('no/such/file');
    await odd['finish']!('DONE');
    await run.finish('FAILED');
    run.log({ late: 1 });
    expect(server.points().map(({ name }) => name)).to.deep.equal(['good', 'y']);
    expect(server.requests.at(-1)!.body).to.deep.equal({ status: 'FAILED' });
  });

  it('keeps the rest of a batch of which a part is refused', async () => {
    const isBad = ({ name }: { name: string }) => name === 'bad';
    server.refuse = ({ body }) => (body.points?.some(isBad) ? 422 : null);
    const run = startRun();
    for (let step = 0; step < 100; step += 1) run.log({ [step === 42 ? 'bad' : 'good']: step }, { step });
    await run.finish();
    expect(server.points()).to.have.length(99);
    expect(linesOf(offline('points.jsonl')).map(({ step }) => step)).to.deep.equal([42]);
  });

  it('leaves to the agent, as records of the contract, what the server does not take now', async () => {
    const run = startRun(AWAY, { spool: true, isAttached: true });
    for (let step = 0; step < 500; step += 1) run.log({ loss: step }, { step });
    run.event('lr dropped');
    run.checkpoint('model.bin', { step: 3 });
    await run.finish('FAILED');
    const lines = spooled();
    expect(lines.at(-1)).to.deep.equal({ kind: 'end' });
    for (const line of lines.slice(0, -1))
      expect(Value.Check(SpoolRecord, line), JSON.stringify(line)).to.equal(true);
    const points = lines.flatMap(({ body }) => (body as Request['body'] | undefined)?.points ?? []);
    expect(points.map(({ step }) => step)).to.deep.equal(Array.from({ length: 500 }, (_, step) => step));
    expect(lines.map(({ kind }) => kind)).to.include.members(['event', 'checkpoint', 'finish']);
    expect(existsSync(path.join(dir, 'svc-offline'))).to.equal(false);
  });

  it('goes back to the server when it answers again', async () => {
    server.refuse = () => 503;
    const run = startRun(server.url, { spool: true });
    run.log({ loss: 1 });
    await run.flush();
    expect(spooled()).to.have.length(1);
    server.refuse = () => null;
    for (let step = 0; server.points().length === 0; step += 1) {
      run.log({ later: step });
      await run.flush();
    }
    expect(spooled().at(-1)).to.deep.equal({ kind: 'end' });
    await run.finish();
  });

  it('takes booleans as 0 and 1, and has the last values', async () => {
    const run = startRun();
    run.log({ done: false, eval: { ok: true }, loss: 2 });
    run.log({ loss: 1 });
    await run.finish();
    expect(server.points().map(({ value }) => value)).to.deep.equal([0, 1, 2, 1]);
    expect(run.summary).to.deep.equal({ done: 0, 'eval/ok': 1, loss: 1 });
  });

  it('has a config that is read as it was given, and sends its changes whole', async () => {
    const layers = [64, 32];
    const run = startRun(server.url, { config: { layers } });
    expect(run.config['layers']).to.equal(layers);
    run.updateConfig({ token: 'x', rates: new Float32Array([0.5, 0.25]), tags: new Set(['a']) });
    await run.finish();
    expect(run.config['token']).to.equal('x');
    const update = server.requests.find(({ method }) => method === 'PATCH')!;
    expect(update.body).to.deep.equal({
      config: { layers: [64, 32], token: '***', rates: [0.5, 0.25], tags: ['a'] },
    });
  });

  it('says what a metric means', async () => {
    const run = startRun();
    run.defineMetric('val/psnr ö', { direction: 'maximize', unit: 'dB', primary: true });
    run.defineMetric('x', { direction: 'up' as 'minimize' });
    run.defineMetric('', {});
    await run.finish();
    const [define, ...rest] = server.requests.filter(({ method }) => method === 'PUT');
    expect(define!.path).to.equal('/api/v1/runs/run_1/metric-definitions/val/psnr%20%C3%B6');
    expect(define!.body).to.deep.equal({ direction: 'maximize', unit: 'dB', is_primary: true });
    expect(rest).to.deep.equal([]);
  });

  it('leaves to another rank what describes the run', async () => {
    const run = startRun(server.url, { isDescribed: false });
    run.updateConfig({ lr: 1 });
    run.defineMetric('loss', { unit: 'nat' });
    await run.finish();
    expect(server.requests.map(({ path: at }) => at)).to.deep.equal(['/api/v1/runs/run_1/finish']);
  });

  it('refuses at once what cannot be set', () => {
    const run = startRun() as unknown as Record<string, unknown>;
    for (const attribute of ['name', 'url', 'config', 'summary', 'lr'])
      expect(() => (run[attribute] = 1), attribute).to.throw(TypeError);
    expect(() => ((run['config'] as Record<string, unknown>)['lr'] = 1)).to.throw(TypeError);
  });

  describe('gives signs of life', () => {
    const signs = () => server.requests.filter(({ path: at }) => at === '/api/v1/runs/run_1/alive').length;

    it('while nothing is on its way, until it ends', async () => {
      const run = startRun(server.url, { signEveryMs: 10 });
      await until(() => signs() >= 3);
      await run.finish();
      const atEnd = signs();
      await pause(60);
      expect(signs()).to.be.at.most(atEnd + 1);
    });

    it('until the server wants none, and not in a job', async () => {
      server.refuse = ({ path: at }) => (at.endsWith('/alive') ? 404 : null);
      const runs = [startRun(server.url, { signEveryMs: 10 }), startRun()];
      await until(() => signs() >= 1);
      // A busy machine may have sent another one before the first answer came.
      await pause(60);
      const settled = signs();
      await pause(60);
      expect(signs()).to.equal(settled);
      await Promise.all(runs.map((run) => run.finish()));
    });

    it('and tries on when one does not arrive', async () => {
      server.refuse = ({ path: at }) => (at.endsWith('/alive') ? 503 : null);
      const run = startRun(server.url, { signEveryMs: 10 });
      await until(() => signs() >= 3);
      await run.finish();
    });
  });

  it('drops the oldest when the queue is full, and keeps the rest in a folder when the time is over', async () => {
    const run = startRun(AWAY, { queuePoints: 10, flushTimeoutMs: 20 });
    for (let step = 0; step < 25; step += 1) run.log({ loss: step }, { step });
    await run.finish();
    const steps = linesOf(offline('points.jsonl')).map(({ step }) => step);
    expect(steps).to.deep.equal(Array.from({ length: 10 }, (_, index) => 15 + index));
    expect(JSON.parse(readFileSync(offline('metadata.json'), 'utf8'))).to.include({ status: 'SUCCEEDED' });
  });
});

interface Request {
  readonly body: { readonly points?: { readonly step: number }[] };
}
