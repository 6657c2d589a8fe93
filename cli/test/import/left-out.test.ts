import { expect } from 'chai';
import path from 'node:path';
import { runHere } from '../support/svc.js';
import { restart, scalar, toEventFile } from './event-file.js';
import { ImportUser } from './import-user.js';
import { toWandbFile, wandbRecord } from './wandb-file.js';

describe('what svc import leaves out', () => {
  let user: ImportUser;
  before(async () => void (user = await ImportUser.start()));
  after(() => user.close());

  it('leaves out a metrics.csv that is not of Lightning, says what to do, and takes the event files beside it', async () => {
    const directory = user.directory('foreign-csv', {
      'a/metrics.csv': 'time,value\n1,2\n',
      'b/metrics.csv': '',
      'a/events.out.tfevents.1700000000.host': toEventFile([scalar('loss', 0, 1)]),
    });
    const { status, runs, left_out, complete } = await user.import(directory);
    expect([status, complete]).to.deep.equal([0, true]);
    expect(runs.map(({ source, error }) => [source, error])).to.deep.equal([['tensorboard', null]]);
    expect(left_out.map(({ path: place }) => path.relative(directory, place))).to.deep.equal([
      'a/metrics.csv',
      'b/metrics.csv',
    ]);
    expect(left_out[0]?.reason).to.contain('no column "step"').and.contain('name the column of the steps');
    expect(left_out[1]?.reason).to.contain('no whole line yet');
  });

  it('names the metric, the number and the reason of the values that it skips, whatever the source', async () => {
    const directory = user.directory('skipping', {
      'hf/trainer_state.json': JSON.stringify({
        log_history: [
          { step: 1, note: 'x', odd: [1], loss: 1 },
          { step: 2, note: 'y' },
        ],
      }),
      'csv/metrics.csv': 'step,loss,note\n1,0.5,x\n2,0.25,y\n',
      'w/run-s.wandb': toWandbFile([
        wandbRecord.run({ id: 's' }),
        wandbRecord.history(0, { note: '"x"', image: { _type: 'image-file' } }),
        wandbRecord.history(1, { note: '"y"' }),
      ]),
      '1/m/meta.yaml': 'run_id: m\nlifecycle_stage: active\n',
      '1/m/metrics/note': '1000 x 1\n1000 y 2\n',
      'off/metadata.json': '{"format": "svc-offline/1", "name": "off", "created_at": 1}',
      'off/points.jsonl': '{"name": "note", "step": 1}\n{"name": "note", "step": 2}\n',
      'tb/events.out.tfevents.1.h': toEventFile([scalar('note', 5, 1), scalar('note', 6, 1), restart(5)]),
    });
    const { runs } = await user.import(directory);
    const skippedOf = (source: string) => {
      const found = runs.find((run) => run.source === source)?.skipped ?? [];
      return Object.fromEntries(found.map(({ reason, metrics }) => [reason, metrics]));
    };
    const noNumber = 'a value that is no number';
    expect(skippedOf('hugging face')).to.deep.equal({ [noNumber]: { 'train/note': 2, 'train/odd': 1 } });
    expect(skippedOf('lightning')).to.deep.equal({ [noNumber]: { note: 2 } });
    expect(skippedOf('wandb')).to.deep.equal({
      [noNumber]: { note: 2 },
      'media, such as a histogram or an image': { image: 1 },
    });
    expect(skippedOf('mlflow')).to.deep.equal({ 'a line that is no point': { note: 2 } });
    expect(skippedOf('svc offline')).to.deep.equal({ 'a line that is no point': { note: 2 } });
    expect(skippedOf('tensorboard')['a point that a restart of the training replaces']).to.deep.equal({
      note: 2,
    });
    const { stdout } = await runHere(['import', directory], user.user.env);
    expect(stdout).to.contain('3 x a value that is no number: train/note (2), train/odd (1); first: entry 0');
  });
});
