import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ImportUser, importedFrom } from './import-user.js';
import { toWandbFile, wandbRecord } from './wandb-file.js';

describe('svc import of wandb runs', () => {
  let user: ImportUser;
  before(async () => void (user = await ImportUser.start()));
  after(() => user.close());

  const run = (id: string) =>
    wandbRecord.run({
      id,
      project: 'proj',
      name: 'w',
      notes: 'why it was tried',
      config: { lr: 0.1, _wandb: {} },
    });
  const folder = 'wandb/offline-run-20261123_085221-abc';

  it('brings in history, config and the end of an offline run', async () => {
    const directory = user.directory('wandb', {
      [`${folder}/run-abc.wandb`]: toWandbFile([
        run('abc'),
        wandbRecord.history(0, { loss: 1, 'nested.x': 2, text: '"hi"', flag: true, _runtime: 1 }),
        wandbRecord.config({ later: true }),
        wandbRecord.history(5, { loss: 'NaN', 'h._type': '"histogram"', 'h.bins': [1, 2], 'h.width': 3 }),
        wandbRecord.exit(1),
      ]),
    });
    const report = await user.importOne(directory);
    expect(await user.points(report)).to.deep.equal({
      flag: [[0, 1, 1_000_000]],
      loss: [
        [0, 1, 1_000_000],
        [5, 'NaN', 1_005_000],
      ],
      'nested/x': [[0, 2, 1_000_000]],
    });
    expect(report.skipped.map(({ reason, count }) => [reason, count])).to.deep.equal([
      ['a value that is no number', 1],
      ['media, such as a histogram or an image', 1],
    ]);
    const stored = await user.run(report);
    expect(stored).to.deep.include({
      name: 'w',
      config: { lr: 0.1, later: true },
      notes: 'why it was tried',
      tags: ['failed'],
      started_at: 1_000_000,
    });
    expect(importedFrom(stored)).to.include({
      source: 'wandb',
      run_id: 'abc',
      exit_code: 1,
      ended: 'FAILED',
    });
  });

  it('tags a run that failed once, and takes the tag away when the run was resumed and succeeded', async () => {
    const part = (exit: number) =>
      toWandbFile([run('resumed'), wandbRecord.history(exit, { loss: 1 }), wandbRecord.exit(exit)]);
    const first = 'wandb/offline-run-1-resumed/run-resumed.wandb';
    const directory = user.directory('wandb-ends', { [first]: part(1) });
    const report = await user.importOne(directory);
    const tags = async () => (await user.run(report)).tags;
    expect(await tags()).to.deep.equal(['failed']);
    await user.user.rig.patch(`/runs/${report.run_id}`, { tags: ['mine'] });
    await user.importOne(directory);
    expect(await tags(), 'removed by its user').to.deep.equal(['mine']);
    user.directory('wandb-ends', { 'wandb/offline-run-2-resumed/run-resumed.wandb': part(0) });
    for (const time of ['first', 'second']) {
      await user.import(directory);
      expect(await tags(), time).to.deep.equal(['mine']);
    }
  });

  it('reads records over several blocks, passes a corrupt one over, and waits for the one that is being written', async () => {
    const steps = Array.from({ length: 3000 }, (_none, step) => step);
    const whole = toWandbFile([
      run('xyz'),
      ...steps.map((step) => wandbRecord.history(step, { loss: step, [`m${step % 3}`]: 1 })),
    ]);
    expect(whole.length).to.be.greaterThan(4 * 32 * 1024);
    const directory = user.directory('wandb-long', {
      'run-20-xyz/run-xyz.wandb': whole.subarray(0, whole.length - 3),
    });
    const file = path.join(directory, 'run-20-xyz/run-xyz.wandb');
    const report = await user.importOne(directory, '--project', 'other');
    expect(report.points.added).to.equal(2 * 2999);
    writeFileSync(file, whole);
    const grown = await user.importOne(directory);
    expect(grown.points).to.deep.equal({ added: 2, known: 2 * 2999 });
    expect((await user.values(report))['loss']).to.deep.equal(steps.map((step) => [step, step]));
    whole[40_000] = (whole[40_000] as number) ^ 0xff;
    mkdirSync(path.join(directory, 'bad'));
    writeFileSync(path.join(directory, 'bad/run-bad.wandb'), whole);
    const bad = (await user.import(path.join(directory, 'bad'))).runs[0];
    expect(bad?.skipped[0]).to.include({ reason: 'a corrupt record' });
    expect((bad?.points.added ?? 0) + (bad?.points.known ?? 0)).to.be.greaterThan(3000);
  });
});
