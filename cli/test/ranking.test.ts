import type { BestCheckpoint, Evaluation, RunComparison } from '@svc/contract';
import { expect } from 'chai';
import { toCommand, toEvaluationLines, toEvaluationSubmit } from '../src/commands/evaluate.js';
import { toBestLines, toComparisonLines } from '../src/commands/ranking.js';

const plain = (_style: unknown, text: string): string => text;

describe('svc evaluate', () => {
  it('leaves out what is not given', () => {
    expect(toEvaluationSubmit(['python', 'eval.py'], {})).to.deep.equal({ command: ['python', 'eval.py'] });
  });

  it('sends each option', () => {
    const options = {
      suite: 'heldout',
      dataset: 'digits',
      datasetVersion: '2',
      workingDir: '/data',
      gpu: 2,
      priority: 1,
      env: { PATH: '/mine' },
      maxAttempts: 3,
      nodeSelector: { rack: 'a' },
    };
    expect(toEvaluationSubmit(['e'], options)).to.deep.equal({
      command: ['e'],
      suite: 'heldout',
      dataset: 'digits',
      dataset_version: '2',
      working_dir: '/data',
      resources: { gpu: 2 },
      priority: 1,
      env: { PATH: '/mine' },
      max_attempts: 3,
      node_selector: { rack: 'a' },
    });
  });

  it('takes `--` between the checkpoint and the command, and no option there', () => {
    expect(toCommand(['--', 'python', '-u', 'eval.py'])).to.deep.equal(['python', '-u', 'eval.py']);
    expect(toCommand(['python', '--', 'x'])).to.deep.equal(['python', '--', 'x']);
    expect(() => toCommand(['--suite', 'a', '--', 'python'])).to.throw('options come before the checkpoint');
    expect(() => toCommand(['--'])).to.throw('what is to be run?');
  });

  it('shows the result, or why there is none', () => {
    const done = {
      id: 'eval_1',
      status: 'SUCCEEDED',
      error: null,
      metrics: { acc: 0.91234567, loss: 'NaN' },
    };
    expect(toEvaluationLines(done as unknown as Evaluation, plain)).to.deep.equal([
      'eval_1  SUCCEEDED',
      'acc   0.91235',
      'loss  NaN',
    ]);
    const failed = { id: 'eval_1', status: 'FAILED', error: 'no file', metrics: {} };
    expect(toEvaluationLines(failed as unknown as Evaluation, plain)).to.deep.equal([
      'eval_1  FAILED',
      'no file',
    ]);
  });
});

describe('svc best', () => {
  it('shows the value, where it comes from, and what ties', () => {
    const best = {
      checkpoint_id: 'ckpt_1',
      checkpoint: { path: '/out/c' },
      run_id: 'run_1',
      metric: 'acc',
      step: 7,
      direction: 'maximize',
      value: 0.5,
      source: 'evaluation',
      evaluation_id: 'eval_1',
      tied_checkpoint_ids: ['ckpt_1', 'ckpt_2'],
      next_actions: [
        { tool: 'get_run_summary', args: { run_id: 'run_1' }, reason: 'why' },
        { tool: 'list_metric_definitions', args: {}, reason: 'has no command' },
      ],
    } as unknown as BestCheckpoint;
    expect(toBestLines(best, plain)).to.deep.equal([
      'ckpt_1  acc 0.5',
      'path        /out/c',
      'run         run_1',
      'step        7',
      'direction   maximize: higher is better',
      'value from  evaluation eval_1',
      'tied        ckpt_1, ckpt_2',
      '',
      'Next',
      '  svc run run_1',
      '    why',
    ]);
    const trained = { ...best, source: 'training_fallback', evaluation_id: null, value_step: 5 } as const;
    expect(toBestLines(trained, plain)).to.include('value from  training, logged at step 5');
  });
});

describe('svc compare', () => {
  it('shows the ranks, the best marked, and a dash for what is not there', () => {
    const entry = {
      name: 'mlp',
      best: 0.5,
      best_source: 'training_fallback',
      step: 3,
      latest: 0.4,
      rank: 1,
      is_best: true,
    };
    const comparison = {
      metric: 'acc',
      direction: 'maximize',
      protocol: { suite: 'a', dataset: null, dataset_version: null },
      entries: [
        { run_id: 'run_1', ...entry },
        {
          run_id: 'run_2',
          ...entry,
          best: null,
          best_source: null,
          step: null,
          latest: null,
          rank: null,
          is_best: false,
        },
      ],
      next_actions: [],
    } as unknown as RunComparison;
    expect(toComparisonLines(comparison, plain)).to.deep.equal([
      'acc, higher is better (suite a)',
      'RANK  ID     NAME  BEST  FROM      STEP  LATEST',
      '1 *   run_1  mlp    0.5  training     3     0.4',
      '-     run_2  mlp      -  -            -       -',
    ]);
  });
});
