import { expect } from 'chai';
import { LOWER_LEARNING_RATE, SMALLER_BATCH, changeArgument } from '../src/changed-argument.js';
import { JOB, evidenceOf, explain } from './support/attempt-evidence.js';

const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';

describe('failures: a changed argument', () => {
  const CHANGED: [string, string][] = [
    ['python train.py --batch-size 64 --lr 0.1', 'python train.py --batch-size 32 --lr 0.1'],
    ['python train.py --batch_size=64', 'python train.py --batch_size=32'],
    [
      'torchrun train.py --per_device_train_batch_size 3',
      'torchrun train.py --per_device_train_batch_size 1',
    ],
    ['python train.py data.batch_size=256 lr=1e-3', 'python train.py data.batch_size=128 lr=1e-3'],
    ['python train.py --batch-size 64 --batch-size 16', 'python train.py --batch-size 64 --batch-size 8'],
  ];
  for (const [before, after] of CHANGED)
    it(`halves the batch of: ${before}`, () =>
      expect(changeArgument(before.split(' '), SMALLER_BATCH)?.command).to.deep.equal(after.split(' ')));

  const UNCHANGED = [
    'python train.py',
    'python train.py --batch-size 1',
    'python train.py --batch-size auto',
    'python train.py --batch-size',
    'python train.py batch 64',
    'python train.py --eval-batch-sizes 64',
    'batch_size=64',
  ];
  for (const command of UNCHANGED)
    it(`leaves alone: ${command}`, () =>
      expect(changeArgument(command.split(' '), SMALLER_BATCH)).to.equal(null));

  it('takes a tenth of the learning rate', () => {
    const found = changeArgument(['python', 'train.py', '--lr', '3e-4'], LOWER_LEARNING_RATE);
    expect(found).to.deep.equal({
      command: ['python', 'train.py', '--lr', '0.00003'],
      what: '--lr 0.00003 in place of 3e-4',
    });
  });

  it('is suggested behind the base, as a job that can be submitted as it stands', () => {
    const job = { ...JOB, command: ['python3', 'train.py', '--batch-size', '64'], experiment: 'sweep' };
    const [base, changed] = explain(evidenceOf(OOM, {}, { job })).next_actions;
    expect(base?.args).to.deep.include({ command: job.command, experiment: 'sweep' });
    expect(changed).to.deep.equal({
      tool: 'submit_job',
      args: { ...base?.args, command: ['python3', 'train.py', '--batch-size', '32'] },
      reason: 'The same with the change made: --batch-size 32 in place of 64.',
    });
  });
});
