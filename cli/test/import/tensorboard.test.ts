import { expect } from 'chai';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hparams, restart, scalar, toEventFile } from './event-file.js';
import { ImportUser } from './import-user.js';

describe('svc import of event files', () => {
  let user: ImportUser;
  before(async () => void (user = await ImportUser.start()));
  after(() => user.close());

  const FILE = 'events.out.tfevents.1700000000.host.1.0';

  it('makes a run of each folder, named by its path, and goes on when files grow and come', async () => {
    const first = [scalar('loss', 0, 1, 1000.5), scalar('loss', 1, 0.5, 1001)];
    const directory = user.directory('tb', {
      [`exp/train/${FILE}`]: toEventFile(first),
      [`exp/validation/${FILE}`]: toEventFile([scalar('loss', 1, 2)]),
      'exp/train/hparams.yaml': 'lr: 0.5\n',
    });
    const { runs } = await user.import(directory, '--project', 'p', '--experiment', 'e');
    expect(runs.map(({ name }) => name)).to.deep.equal(['tb/exp/train', 'tb/exp/validation']);
    const [train] = runs as [(typeof runs)[0]];
    expect(await user.points(train)).to.deep.equal({
      loss: [
        [0, 1, 1_000_500],
        [1, 0.5, 1_001_000],
      ],
    });
    const run = await user.run(train);
    expect(run).to.deep.include({ config: { lr: 0.5 }, started_at: 1_000_500, finished_at: 1_001_000 });
    expect((await user.user.rig.get(`/projects/${run.project_id}`)).body.name).to.equal('p');
    const whole = toEventFile([...first, scalar('loss', 2, 0.25, 1002)]);
    writeFileSync(path.join(directory, 'exp/train', FILE), whole.subarray(0, whole.length - 1));
    writeFileSync(
      path.join(directory, 'exp/train', 'events.out.tfevents.1700009999.host.2.0'),
      toEventFile([scalar('acc', 9, 1, 1009)]),
    );
    expect((await user.import(directory)).runs[0]?.points).to.deep.equal({ added: 1, known: 2 });
    writeFileSync(path.join(directory, 'exp/train', FILE), whole);
    expect((await user.import(directory)).runs[0]?.points).to.deep.equal({ added: 1, known: 3 });
    expect(await user.values(train)).to.deep.equal({
      loss: [
        [0, 1],
        [1, 0.5],
        [2, 0.25],
      ],
      acc: [[9, 1]],
    });
    expect((await user.run(train)).finished_at).to.equal(1_009_000);
  });

  it('calls a run the same, and takes it for the same, from whichever directory it is imported', async () => {
    const events = toEventFile([scalar('loss', 0, 1)]);
    const directory = user.directory('tb-names-of', { [`grid/lr1/train/${FILE}`]: events });
    const [one] = (await user.import(directory, '--dry-run')).runs;
    expect(one?.name).to.equal('grid/lr1/train');
    const { run_id } = await user.importOne(path.join(directory, 'grid/lr1/train', FILE));
    const folders = ['', 'grid', 'grid/lr1', 'grid/lr1/train', 'grid/lr1/../lr1/./train'];
    for (const folder of folders) {
      const { runs } = await user.import(path.join(directory, folder));
      expect(runs.map((run) => [run.name, run.run_id, run.is_new])).to.deep.equal([
        ['grid/lr1/train', run_id, false],
      ]);
    }
  });

  it('takes a file that was replaced by another of its name for another run', async () => {
    const directory = user.directory('tb-replaced', {
      [FILE]: toEventFile([scalar('loss', 0, 1), scalar('loss', 1, 2)]),
    });
    const first = await user.importOne(directory);
    const later = Array.from({ length: 7 }, (_, step) => scalar('loss', step, step, 2000 + step));
    writeFileSync(path.join(directory, FILE), toEventFile(later));
    const second = await user.importOne(directory);
    expect(second.run_id).to.not.equal(first.run_id);
    expect(second.points).to.deep.equal({ added: 7, known: 0 });
    expect((await user.importOne(directory)).points).to.deep.equal({ added: 0, known: 7 });
  });

  it('takes the folder of add_hparams for a part of the run', async () => {
    const directory = user.directory('tb-hparams', {
      [FILE]: toEventFile([scalar('loss', 0, 1)]),
      [`1700000001.25/${FILE}`]: toEventFile([hparams('lr', 0.5), scalar('hparam/acc', 0, 2)]),
    });
    const report = await user.importOne(directory);
    expect((await user.run(report)).config).to.deep.equal({ lr: 0.5 });
    expect(await user.values(report)).to.deep.equal({ loss: [[0, 1]], 'hparam/acc': [[0, 2]] });
  });

  it('leaves out what a restart replaces, in earlier files too', async () => {
    const directory = user.directory('tb-restart', {
      'events.out.tfevents.1.h': toEventFile([scalar('a', 0, 1), scalar('a', 5, 2), scalar('b', 9, 3)]),
      'events.out.tfevents.2.h': toEventFile([restart(5), scalar('a', 5, 20), scalar('a', 6, 30)]),
    });
    const report = await user.importOne(directory);
    expect(await user.values(report)).to.deep.equal({
      a: [
        [0, 1],
        [5, 20],
        [6, 30],
      ],
    });
    expect(report.skipped).to.deep.equal([
      {
        reason: 'a point that a restart of the training replaces',
        count: 2,
        first: 'events.out.tfevents.1.h',
        metrics: { a: 1, b: 1 },
      },
    ]);
  });

  it('says which names the server takes, and takes the other points', async () => {
    const names = ['train/loss', 'x'.repeat(250), 'y'.repeat(251), 'a\nb', ''];
    const directory = user.directory('tb-names', {
      [FILE]: toEventFile(names.map((name) => scalar(name, 1, 1))),
    });
    const report = await user.importOne(directory);
    expect(Object.keys(await user.values(report)).sort()).to.deep.equal(['train/loss', 'x'.repeat(250)]);
    expect(report.skipped.map(({ reason }) => reason)).to.deep.equal([
      'a metric whose name has more than 250 characters',
      'a metric whose name has control characters or is no valid Unicode',
      'a metric without a name',
    ]);
  });

  it('has no run of a file without scalars, and says so', async () => {
    const directory = user.directory('tb-empty', { [FILE]: '' });
    const report = await user.importOne(directory);
    expect([report.run_id, report.skipped[0]?.reason]).to.deep.equal([null, 'it has no metrics']);
    rmSync(directory, { recursive: true });
  });
});
