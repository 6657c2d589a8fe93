import Database from 'better-sqlite3';
import { expect } from 'chai';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ImportUser, importedFrom } from './import-user.js';

const WRITTEN_S = 1_700_000_000;

describe('svc import, by source', () => {
  let user: ImportUser;
  before(async () => void (user = await ImportUser.start()));
  after(() => user.close());

  describe('svc-offline', () => {
    const metadata = {
      format: 'svc-offline/1',
      name: 'kept',
      project: 'vision',
      experiment: 'resnet',
      config: { lr: 0.1 },
      environment: { python: '3.11' },
      tags: ['a'],
      max_steps: 100,
      created_at: 1_000_000,
      finished_at: 1_060_000,
      status: 'SUCCEEDED',
    };
    const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('');

    it('brings in points, events, checkpoints and what a metric means, with their times', async () => {
      const directory = user.directory('offline', {
        'svc-offline/kept-1/metadata.json': JSON.stringify(metadata),
        'svc-offline/kept-1/points.jsonl': lines(
          { seq: 7, name: 'loss', step: 1, value: 0.5, ts: 1_000_500, epoch: 0.5 },
          { seq: 8, name: 'loss', step: 2, value: 'NaN', ts: 1_001_000 },
        ),
        'svc-offline/kept-1/events.jsonl': lines({ title: 'lr dropped', severity: 'warning', ts: 1_000_700 }),
        'svc-offline/kept-1/checkpoints.jsonl': lines({ path: '/out/c-1', step: 1, size: 5, ts: 1_000_800 }),
        'svc-offline/kept-1/metrics.jsonl': lines({
          name: 'loss',
          direction: 'minimize',
          unit: 'nats',
          ts: 1,
        }),
      });
      const report = await user.importOne(directory);
      expect(report).to.deep.include({ source: 'svc offline', is_new: true, skipped: [] });
      expect(await user.run(report)).to.deep.include({
        name: 'kept',
        source: 'import',
        status: 'IMPORTED',
        config: { lr: 0.1 },
        environment: { python: '3.11', import: { source: 'svc offline', ended: 'SUCCEEDED' } },
        tags: ['a'],
        max_steps: 100,
        started_at: 1_000_000,
        finished_at: 1_060_000,
      });
      expect(await user.points(report)).to.deep.equal({
        loss: [
          [1, 0.5, 1_000_500],
          [2, 'NaN', 1_001_000],
        ],
      });
      expect((await user.events(report))[0]).to.include({ title: 'lr dropped', severity: 'warning' });
      expect((await user.checkpoints(report))[0]).to.include({ path: '/out/c-1', step: 1, size: 5 });
      const again = await user.importOne(directory);
      expect(again).to.deep.include({
        is_new: false,
        run_id: report.run_id,
        points: { added: 0, known: 2 },
        events: { added: 0, known: 1 },
        checkpoints: { added: 0, known: 1 },
      });
    });

    it('goes on with the run that the training had begun on the server, and ends it as the training did', async () => {
      const begun = await user.user.rig.createRun({ name: 'cut off' });
      const write = { points: [{ seq: 7, name: 'loss', step: 1, value: 0.5 }] };
      await user.user.rig.post(`/runs/${begun.id}/metrics:batch`, write);
      const directory = user.directory('begun', {
        'run/metadata.json': JSON.stringify({ ...metadata, run_id: begun.id, status: 'FAILED' }),
        'run/points.jsonl': lines(
          { seq: 7, name: 'loss', step: 1, value: 0.5 },
          { seq: 8, name: 'loss', step: 2, value: 0.25 },
        ),
      });
      const would = await user.importOne(directory, '--dry-run');
      expect(would).to.deep.include({ run_id: begun.id, is_new: false, points: { added: 1, known: 1 } });
      expect(await user.run({ run_id: begun.id })).to.deep.include({ status: 'RUNNING', config: {} });
      const report = await user.importOne(directory);
      expect(report).to.deep.include({ run_id: begun.id, is_new: false, points: { added: 1, known: 1 } });
      expect(await user.run(report)).to.deep.include({
        name: 'cut off',
        source: 'sdk',
        status: 'FAILED',
        config: { lr: 0.1 },
        finished_at: 1_060_000,
      });
      expect((await user.importOne(directory)).points).to.deep.equal({ added: 0, known: 2 });
    });

    it('says in a dry run which points, events and checkpoints of a begun run the server has', async () => {
      const begun = await user.user.rig.createRun({ name: 'online at first' });
      const points = Array.from({ length: 30 }, (_none, step) => ({ name: 'loss', step, value: step / 2 }));
      const sent = points.slice(0, 20).map((point, seq) => ({ seq, ...point }));
      await user.user.rig.post(`/runs/${begun.id}/metrics:batch`, { points: sent });
      await user.user.rig.post(`/runs/${begun.id}/events`, { title: 'told already' });
      await user.user.rig.post(`/runs/${begun.id}/checkpoints`, { path: '/out/c-1', step: 1 });
      const kept = points.map((point, seq) => ({ seq, ...point })).slice(15);
      const directory = user.directory('begun-dry', {
        'run/metadata.json': JSON.stringify({ ...metadata, run_id: begun.id }),
        'run/points.jsonl': lines(...kept),
        'run/events.jsonl': lines({ title: 'new' }),
        'run/checkpoints.jsonl': lines({ path: '/out/c-1', step: 1 }, { path: '/out/c-2', step: 2 }),
      });
      const { skipped: _skipped, ...would } = await user.importOne(directory, '--dry-run');
      expect(would).to.deep.include({
        run_id: begun.id,
        is_new: false,
        points: { added: 10, known: 5 },
        events: { added: 1, known: 0 },
        checkpoints: { added: 1, known: 1 },
      });
      expect(await user.importOne(directory)).to.deep.include(would);
    });

    it('makes a new run of one that another server has begun', async () => {
      const run_id = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';
      const directory = user.directory('foreign', {
        'run/metadata.json': JSON.stringify({ ...metadata, run_id }),
        'run/points.jsonl': lines({ seq: 1, name: 'loss', step: 1, value: 1 }),
      });
      expect(await user.importOne(directory, '--dry-run')).to.include({ is_new: true, run_id: null });
      const report = await user.importOne(directory);
      expect(report).to.include({ is_new: true }).and.not.include({ run_id });
      expect((await user.run(report)).status).to.equal('IMPORTED');
    });
  });

  describe('trainer_state.json', () => {
    const history = [
      { loss: 2.5, learning_rate: 0.001, epoch: 0.5, step: 10 },
      { eval_loss: 2, epoch: 1, step: 20 },
      { loss: 1.5, epoch: 1, step: 20 },
      { train_runtime: 12.5, epoch: 1, step: 20 },
    ];
    const state = (entries: number) =>
      JSON.stringify({
        log_history: history.slice(0, entries),
        max_steps: 20,
        best_metric: 2,
        best_model_checkpoint: 'out/checkpoint-20',
      });

    it('brings in the history of the newest checkpoint, and registers the checkpoints', async () => {
      const directory = user.directory('trainer', {
        'out/checkpoint-10/trainer_state.json': state(1),
        'out/checkpoint-10/model.safetensors': 'x'.repeat(10),
        'out/checkpoint-20/trainer_state.json': state(3),
      });
      utimesSync(path.join(directory, 'out/checkpoint-20/trainer_state.json'), WRITTEN_S, WRITTEN_S);
      const report = await user.importOne(directory);
      const at = WRITTEN_S * 1000;
      expect(await user.points(report)).to.deep.equal({
        'eval/loss': [[20, 2, at]],
        'train/learning_rate': [[10, 0.001, at]],
        'train/loss': [
          [10, 2.5, at],
          [20, 1.5, at],
        ],
      });
      expect(await user.run(report)).to.include({
        name: `${path.basename(user.user.home)}/trainer/out`,
        max_steps: 20,
        epoch: 1,
        finished_at: at,
      });
      const found = await user.checkpoints(report);
      const folder = path.join(directory, 'out');
      expect(
        found.map(({ path: place, step, metadata }) => [
          place,
          step,
          (metadata as Record<string, unknown>)['best_model'],
        ]),
      ).to.deep.equal([
        [path.join(folder, 'checkpoint-10'), 10, undefined],
        [path.join(folder, 'checkpoint-20'), 20, true],
      ]);
      expect(found[0]?.size).to.equal(10 + Buffer.byteLength(state(1)));
      // The end of the training, and its own state.
      writeFileSync(path.join(folder, 'trainer_state.json'), state(4));
      const ended = await user.importOne(directory);
      expect(ended).to.deep.include({ run_id: report.run_id, points: { added: 1, known: 4 } });
    });

    it('leaves the event files of the same training out, and says how they come in', async () => {
      const directory = user.directory('trainer-events', {
        'trainer_state.json': state(4),
        'runs/Nov23/events.out.tfevents.1.host': '',
      });
      const { runs, left_out } = await user.import(directory);
      expect(runs).to.have.length(1);
      expect(left_out.map(({ reason }) => reason).join()).to.contain(
        `svc import ${directory}/runs takes this`,
      );
    });
  });

  it('brings in metrics.csv of Lightning, with hyperparameters and checkpoints', async () => {
    const directory = user.directory('lightning', {
      'version_0/metrics.csv': 'epoch,step,train_loss\n0,9,1.5\n0,19,nan\n',
      'version_0/hparams.yaml': 'lr: 0.01\nmodel: !!python/object:x.Y {a: 1}\n',
      'version_0/checkpoints/epoch=0-step=20.ckpt': '12345',
    });
    const file = path.join(directory, 'version_0/metrics.csv');
    const report = await user.importOne(directory);
    expect(await user.values(report)).to.deep.equal({
      train_loss: [
        [9, 1.5],
        [19, 'NaN'],
      ],
    });
    expect(await user.run(report)).to.deep.include({
      name: `${path.basename(user.user.home)}/lightning/version_0`,
      config: { lr: 0.01, model: { a: 1 } },
    });
    expect((await user.checkpoints(report))[0]).to.include({ step: 20, size: 5 });
    // A new metric: the logger writes the file again, with its columns sorted.
    writeFileSync(file, 'epoch,step,acc,train_loss\n0,9,,1.5\n0,19,,nan\n0,19,0.5,\n1,29,,1.25\n1,39,,0');
    const grown = await user.importOne(directory);
    expect(grown).to.deep.include({ run_id: report.run_id, points: { added: 2, known: 2 } });
    expect(await user.values(report)).to.deep.equal({
      acc: [[19, 0.5]],
      train_loss: [
        [9, 1.5],
        [19, 'NaN'],
        [29, 1.25],
      ],
    });
  });

  describe('MLflow', () => {
    const ID = 'c64dde87e3fa41bba39ce15933fafb9f';
    const meta = (id: string, more = '') =>
      `run_id: ${id}\nrun_name: first\nexperiment_id: '505207503129768318'\nlifecycle_stage: active\nstart_time: 1700000000000\nend_time: 1700000060000\nstatus: 3\n${more}`;

    it('brings in the runs of a folder store', async () => {
      const directory = user.directory('mlruns', {
        '505/meta.yaml': "experiment_id: '505'\nname: exp a\n",
        [`505/${ID}/meta.yaml`]: meta(ID),
        [`505/${ID}/metrics/loss`]: '1700000001000 0.5 1\n1700000002000 nan 2\n1700000003000 0.25',
        [`505/${ID}/metrics/eval/acc`]: '1700000001500 -inf 1\n',
        [`505/${ID}/params/lr`]: '0.1',
        [`505/${ID}/params/batch`]: '032',
        [`505/${ID}/tags/team`]: 'x',
        [`505/${ID}/tags/password`]: 'hunter2',
        [`505/${ID}/tags/mlflow.note.content`]: 'a note, api_key=hunter2',
        [`505/${ID}/artifacts/model/model.pth`]: '123',
        [`505/${ID}/artifacts/plot.png`]: '123',
        '.trash/505/dead/meta.yaml': meta('dead').replace('active', 'deleted'),
      });
      const { runs, left_out } = await user.import(directory);
      expect(runs).to.have.length(1);
      expect(left_out.map(({ reason }) => reason)).to.deep.equal(['the run is deleted in MLflow']);
      const [report] = runs as [(typeof runs)[0]];
      expect(await user.points(report)).to.deep.equal({
        'eval/acc': [[1, '-Infinity', 1_700_000_001_500]],
        loss: [
          [1, 0.5, 1_700_000_001_000],
          [2, 'NaN', 1_700_000_002_000],
        ],
      });
      const run = await user.run(report);
      expect(run).to.deep.include({
        name: 'first',
        config: { lr: 0.1, batch: '032' },
        tags: ['password=***', 'team=x'],
        notes: 'a note, api_key=***',
        started_at: 1_700_000_000_000,
        finished_at: 1_700_000_060_000,
      });
      expect(importedFrom(run)).to.deep.include({ source: 'mlflow', status: 'FINISHED', run_id: ID });
      const experiment = (await user.user.rig.get(`/experiments/${run.experiment_id}`)).body;
      expect(experiment.name).to.equal('exp a');
      expect((await user.checkpoints(report)).map(({ path: place }) => path.basename(place))).to.deep.equal([
        'model.pth',
      ]);
    });

    it('brings in the runs of its SQLite file, and does not write to it', async () => {
      const directory = user.directory('mlflow-db');
      const file = path.join(directory, 'mlflow.db');
      const db = new Database(file);
      db.exec(`create table experiments (experiment_id integer, name text);
        create table runs (run_uuid text, name text, status text, start_time bigint, end_time bigint,
          lifecycle_stage text, artifact_uri text, experiment_id integer);
        create table metrics (key text, value float, timestamp bigint, run_uuid text, step bigint, is_nan boolean);
        create table params (key text, value text, run_uuid text);
        create table tags (key text, value text, run_uuid text);
        insert into experiments values (1, 'sq');
        insert into runs values ('r1', 'one', 'FINISHED', 1000, 9000, 'active', null, 1),
          ('r2', 'two', 'FAILED', 1000, null, 'active', 's3://bucket/x', 1), ('r3', 'gone', 'FINISHED', 1, 2, 'deleted', null, 1);
        insert into metrics values ('loss', 0.5, 2000, 'r1', 1, 0), ('loss', 0, 3000, 'r1', 2, 1),
          ('loss', 1.7976931348623157e308, 4000, 'r1', 3, 0), ('loss', 7, 2500, 'r2', 1, 0);
        insert into params values ('lr', '3', 'r1');`);
      db.close();
      const before = statSync(file).mtimeMs;
      const { runs, left_out, status } = await user.import(directory);
      expect([runs.map(({ name }) => name), left_out.length, status]).to.deep.equal([['one', 'two'], 1, 0]);
      const [one, two] = runs as [(typeof runs)[0], (typeof runs)[0]];
      expect(await user.points(one)).to.deep.equal({
        loss: [
          [1, 0.5, 2000],
          [2, 'NaN', 3000],
          [3, 'Infinity', 4000],
        ],
      });
      expect(await user.values(two)).to.deep.equal({ loss: [[1, 7]] });
      expect((await user.run(one)).tags).to.deep.equal([]);
      expect(await user.run(two)).to.deep.include({ status: 'IMPORTED', tags: ['failed'] });
      expect(importedFrom(await user.run(two))).to.include({ ended: 'FAILED' });
      expect(await user.user.svc('runs', '--tag', 'failed'))
        .to.contain('two')
        .and.not.contain('one');
      expect(await user.run(one)).to.deep.include({ config: { lr: 3 }, started_at: 1000, finished_at: 9000 });
      expect(statSync(file).mtimeMs).to.equal(before);
      expect((await user.import(file)).runs.map(({ points }) => points.added)).to.deep.equal([0, 0]);
    });
  });
});
