import type { Checkpoint, Evaluation } from '@svc/contract';
import { expect } from 'chai';
import { toEvaluationTable } from '../src/commands/evaluations.js';
import { toActionLines } from '../src/commands/next-actions.js';

const plain = (_style: unknown, text: string): string => text;
const EVALUATION = {
  id: 'eval_1',
  checkpoint_id: 'ckpt_1',
  run_id: 'run_1',
  job_id: 'job_1',
  suite: 'heldout',
  dataset: 'digits',
  dataset_version: '2',
  runtime_s: 1,
  finished_at: null,
  created_at: Date.now(),
  status: 'SUCCEEDED',
  metrics: { 'eval/acc': 0.92 },
  error: null,
} as unknown as Evaluation;
const CHECKPOINTS = new Map([['ckpt_1', { path: '/out/checkpoint-120' } as Checkpoint]]);

describe('svc evaluations', () => {
  it('shows the values of each, or why there are none', () => {
    const failed = { ...EVALUATION, status: 'FAILED', metrics: {}, error: 'exited with code 2' } as const;
    const [head, first, second] = toEvaluationTable([EVALUATION, failed], CHECKPOINTS, plain);
    expect(head).to.match(/^ID +CHECKPOINT +RUN +SUITE +DATASET +STATUS +CREATED +RESULT$/);
    expect(first).to.match(
      /^eval_1 +checkpoint-120 +run_1 +heldout +digits 2 +SUCCEEDED .* eval\/acc 0\.92$/,
    );
    expect(second).to.match(/FAILED .* exited with code 2$/);
  });

  it('leaves out columns where the terminal is narrow, never the result', () => {
    const lines = toEvaluationTable([EVALUATION], CHECKPOINTS, plain, 60);
    for (const line of lines) expect(line).to.have.length.at.most(60);
    expect(lines[0]).to.contain('RESULT').and.not.contain('CREATED');
  });

  it('is the command of a next action that lists evaluations', () => {
    const action = { tool: 'list_evaluations', args: { checkpoint_id: 'ckpt_1' }, reason: 'why' } as const;
    expect(toActionLines([action])).to.deep.equal(['svc evaluations ckpt_1', '  why']);
  });
});
