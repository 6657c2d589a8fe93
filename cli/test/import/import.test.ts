import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runHere, startSvc } from '../support/svc.js';
import { startOnTerminal } from '../support/terminal.js';
import { ImportUser } from './import-user.js';
import { toWandbFile, wandbRecord } from './wandb-file.js';

const RUN = (id: string) =>
  `run_id: ${id}\nrun_name: ${id}\nlifecycle_stage: active\nstatus: 3\nstart_time: 1000\n`;
const linesOf = (count: number) =>
  Array.from({ length: count }, (_none, step) => `${1000 + step} ${step / 2} ${step}\n`).join('');

describe('svc import', () => {
  let user: ImportUser;
  before(async () => void (user = await ImportUser.start()));
  after(() => user.close());

  const mlflow = (name: string, runs: Readonly<Record<string, number>>) =>
    user.directory(
      name,
      Object.fromEntries(
        Object.entries(runs).flatMap(([id, count]) => [
          [`1/${id}/meta.yaml`, RUN(id)],
          [`1/${id}/metrics/loss`, linesOf(count)],
        ]),
      ),
    );
  const runNames = async () =>
    ((await user.user.rig.get('/runs')).body.items as { name: string }[]).map(({ name }) => name);

  it('killed in the middle and started again, it stores each point once', async () => {
    const directory = mlflow('killed', { long: 300_000, second: 10 });
    const { program, ended } = startSvc(['import', directory], user.user.env);
    const stored = async () => {
      const { items } = (await user.user.rig.get('/runs?name=long')).body as { items: { id: string }[] };
      if (!items[0]) return 0;
      const { metrics } = (await user.user.rig.get(`/runs/${items[0].id}/summary`)).body as {
        metrics: { loss?: { count: number } };
      };
      return metrics.loss?.count ?? 0;
    };
    await until(async () => (await stored()) > 0);
    program.kill('SIGKILL');
    await ended;
    const before = await stored();
    expect(before).to.be.lessThan(300_000);
    expect((await user.user.rig.get('/runs?name=long')).body.items[0].status).to.equal('RUNNING');
    const { runs } = await user.import(directory);
    expect(runs.map(({ is_new, points }) => ({ is_new, ...points }))).to.deep.equal([
      { is_new: false, added: 300_000 - before, known: before },
      { is_new: true, added: 10, known: 0 },
    ]);
    expect(await stored()).to.equal(300_000);
    const [long] = runs as [(typeof runs)[0]];
    const { body } = await user.user.rig.get(`/runs/${long.run_id}/metrics?step_from=299990`);
    const steps = Array.from({ length: 10 }, (_none, index) => 299_990 + index);
    expect(body.series.loss).to.deep.include({
      steps,
      values: steps.map((step) => step / 2),
      ts: steps.map((step) => 1000 + step),
    });
    expect((await user.run(long)).status).to.equal('IMPORTED');
  });

  it('with --dry-run writes nothing, and says what is new', async () => {
    const directory = mlflow('dry', { one: 3 });
    const names = await runNames();
    const first = await user.import(directory, '--dry-run');
    expect(first.dry_run).to.equal(true);
    expect(first.runs[0]).to.deep.include({ run_id: null, is_new: true, points: { added: 3, known: 0 } });
    expect(await runNames()).to.deep.equal(names);
    const { run_id } = await user.importOne(directory);
    writeFileSync(path.join(directory, '1/one/metrics/loss'), linesOf(5));
    const next = await user.importOne(directory, '--dry-run');
    expect(next).to.deep.include({ run_id, is_new: false, points: { added: 2, known: 3 } });
    const reader = { ...user.user.env, SVC_TOKEN: user.user.rig.tokens.read };
    const { stdout } = await runHere(['import', directory, '--dry-run'], reader);
    expect(stdout).to.contain('would come in: 0 new runs, 1 already there, 2 points');
    expect((await user.values({ run_id }))['loss']).to.have.length(3);
  });

  it('says in plain words what was there before', async () => {
    const directory = mlflow('twice', { twice: 3 });
    await user.importOne(directory);
    const { stdout } = await runHere(['import', directory], user.user.env);
    expect(stdout)
      .to.match(/twice +mlflow +already there +0 of 3 /)
      .and.contain('came in: 0 new runs, 1 already there');
  });

  it('imports again what was deleted meanwhile only when asked to', async () => {
    const directory = mlflow('renamed', { named: 1 });
    const { run_id } = await user.importOne(directory);
    await user.user.rig.patch(`/runs/${run_id}`, { name: 'mine', tags: ['best'], notes: 'my note' });
    expect((await user.importOne(directory)).run_id).to.equal(run_id);
    expect(await user.run({ run_id })).to.deep.include({ name: 'mine', tags: ['best'], notes: 'my note' });
  });

  it('brings in the runs beside one that cannot be read, says why, and fails', async () => {
    const directory = mlflow('hostile', { good: 2 });
    const hostile: Record<string, string | Buffer> = {
      'a/metrics.csv': 'time,value\n1,2\n',
      'b/metrics.csv': `step,loss\n1,0.5\n2,"${'x'.repeat(2_000_000)}`.concat('"\n'),
      'c/trainer_state.json': '{"log_history": [{"step": 1, "loss": 1',
      'd/trainer_state.json': '[]',
      'e/run-x.wandb': 'no such file',
      'f/mlflow.db': Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5000, 7)]),
      'g/meta.yaml': 'run_id: [g\n- :',
      'h/metadata.json': '{"format": "svc-offline/1"',
      'i/notes.db': 'no database',
      'j/trainer_state.json': '['.repeat(100_000),
      'k/run-y.wandb': toWandbFile([wandbRecord.history(1, { loss: 1 })]),
      'l/meta.yaml': 'a: &a [x,x,x,x,x,x,x,x,x]\n'.concat(
        ...Array.from(
          'bcdefghi',
          (name, at) => `${name}: &${name} [${`*${'abcdefghi'[at]},`.repeat(9).slice(0, -1)}]\n`,
        ),
      ),
    };
    for (const [file, content] of Object.entries(hostile)) {
      mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
      writeFileSync(path.join(directory, file), content);
    }
    symlinkSync(directory, path.join(directory, 'loop'));
    symlinkSync('/etc', path.join(directory, 'away'));
    const { status, runs, left_out, complete } = await user.import(directory);
    expect([status, complete]).to.deep.equal([1, false]);
    const good = runs.find(({ name }) => name === 'good');
    expect(good).to.deep.include({ error: null, points: { added: 2, known: 0 } });
    const place = (file: string) => path.relative(directory, file).split(path.sep)[0] as string;
    const said = Object.fromEntries([
      ...runs.filter(({ error }) => error !== null).map((run) => [place(run.path), run.error]),
      ...left_out.map((one) => [place(one.path), one.reason]),
    ]) as Record<string, string>;
    expect(Object.keys(said).sort().join(''), JSON.stringify(said, null, 1)).to.equal('abcdefghjkl');
    expect(said['a']).to.contain('no column "step"');
    expect(said['b']).to.match(/record|max/i);
    expect(said['c']).to.contain('no complete JSON');
    expect(said['d']).to.contain('no JSON object');
    expect(said['e']).to.contain('no file of wandb');
    expect(said['f']).to.contain('cannot be read');
    expect(said['g']).to.contain('no YAML');
    expect(said['h']).to.contain('no complete JSON');
    expect(said['j']).to.contain('no complete JSON');
    expect(said['k']).to.contain('does not say which run');
    expect(said['l']).to.contain('no YAML');
    expect(said['']).to.equal('1 links, which are not followed');
    // What was read before the row that cannot be read has come in.
    expect(runs.find(({ path: file }) => place(file) === 'b')?.points.added).to.equal(1);
  });

  it('looks through a tree that is deeper than a path may be long', async () => {
    const directory = mlflow('deep', { 'in-the-deep': 1 });
    let folder = directory;
    for (let depth = 0; folder.length < 3500; depth += 1) folder = path.join(folder, 'x'.repeat(200));
    mkdirSync(folder, { recursive: true });
    expect((await user.import(directory)).runs).to.have.length(1);
  });

  it('tells what it recognises when there is nothing, and what is wrong with the directory', async () => {
    const nothing = await runHere(['import', user.directory('nothing')], user.user.env);
    expect([nothing.status, nothing.stdout]).to.deep.equal([1, '']);
    expect(nothing.stderr).to.contain('holds nothing that svc imports: event files of TensorBoard');
    const missing = await runHere(['import', '/no/such/place'], user.user.env);
    expect([missing.status, missing.stderr]).to.deep.equal([
      1,
      "svc: /no/such/place cannot be read: ENOENT: no such file or directory, realpath '/no/such/place'\n",
    ]);
    expect((await runHere(['import'], user.user.env)).status).to.equal(2);
  });

  it('ends with the error of the server, after what came in', async () => {
    const directory = mlflow('refused', { refused: 1 });
    const { status, stdout, stderr } = await runHere(['import', directory], {
      ...user.user.env,
      SVC_TOKEN: user.user.rig.tokens.read,
    });
    expect(status).to.equal(1);
    expect(stdout).to.contain('0 new runs').and.contain('1 runs failed');
    expect(stderr).to.contain('not allowed');
  });

  it('with a token of sdk scope imports too', async () => {
    const directory = mlflow('sdk', { 'by-sdk': 2 });
    const env = { ...user.user.env, SVC_TOKEN: user.user.rig.tokens.sdk };
    const { status, stdout } = await runHere(['import', directory], env);
    expect([status, stdout]).to.satisfy(([code]: [number]) => code === 0);
    expect(await runNames()).to.include('by-sdk');
  });

  it('interrupted on a terminal, it says how to go on, on a row of its own', async () => {
    const directory = mlflow('interrupted', { interrupted: 300_000 });
    const { ended, stdout, type } = startOnTerminal(100, ['import', directory], user.user.env);
    await until(() => stdout().includes('10,000 points'));
    type('\u0003');
    expect(await ended).to.not.equal(0);
    expect(stdout()).to.match(/\r\u001b\[Kinterrupted: .* the same command goes on from there\r\n$/);
    const { runs } = await user.import(directory);
    expect(runs[0]?.points.known).to.be.greaterThan(0);
    expect((runs[0]?.points.known ?? 0) + (runs[0]?.points.added ?? 0)).to.equal(300_000);
  });

  it('shows its progress on a terminal', async () => {
    const directory = mlflow('shown', { shown: 25_000 });
    const { ended, stdout } = startOnTerminal(100, ['import', directory], user.user.env);
    expect(await ended).to.equal(0);
    expect(stdout())
      .to.match(/\[[#.]{24}\] 0\/1 runs, [\d,]+ points/)
      .and.contain('25000');
  });
});
