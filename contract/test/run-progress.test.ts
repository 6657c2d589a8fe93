import { partDone, percentDone } from '@svc/contract/protocol';
import { expect } from 'chai';

describe('the progress of a run', () => {
  const cases: [
    what: string,
    status: string,
    step: number | null,
    max: number | null,
    part: number | null,
    percent: number | null,
  ][] = [
    ['without a step', 'RUNNING', null, 10, null, null],
    ['without a plan', 'RUNNING', 5, null, null, null],
    ['that goes on', 'RUNNING', 30, 40, 0.75, 75],
    ['that goes on after its last step', 'RUNNING', 40, 40, 1, 99],
    ['that went on behind its plan', 'FAILED', 50, 40, 1, 100],
    ['with a step below 0', 'RUNNING', -5, 40, 0, 0],
    ['that succeeded, counting from 0', 'SUCCEEDED', 299, 300, 1, 100],
    ['that succeeded, counting from 1', 'SUCCEEDED', 300, 300, 1, 100],
    ['that succeeded before its end', 'SUCCEEDED', 150, 300, 0.5, 50],
    ['that failed in its last step', 'FAILED', 299, 300, 299 / 300, 99],
  ];
  for (const [what, status, step, max_steps, part, percent] of cases) {
    it(`of a run ${what}`, () => {
      expect(partDone({ status, step, max_steps })).to.equal(part);
      expect(percentDone({ status, step, max_steps })).to.equal(percent);
    });
  }
});
