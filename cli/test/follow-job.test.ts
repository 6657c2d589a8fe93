import { expect } from 'chai';
import { toExitStatus } from '../src/commands/follow-job.js';
import { toJobSubmit } from '../src/commands/submit.js';

describe('the exit status of svc submit --follow', () => {
  const cases = [
    { status: 'SUCCEEDED', exit_code: 0, expected: 0 },
    { status: 'FAILED', exit_code: 3, expected: 3 },
    { status: 'FAILED', exit_code: 255, expected: 255 },
    { status: 'FAILED', exit_code: 256, expected: 255 },
    { status: 'FAILED', exit_code: -9, expected: 137 },
    { status: 'FAILED', exit_code: null, expected: 1 },
    // It ended well, and yet its result was refused.
    { status: 'FAILED', exit_code: 0, expected: 1 },
    { status: 'CANCELLED', exit_code: -15, expected: 143 },
    { status: 'CANCELLED', exit_code: null, expected: 130 },
  ] as const;
  for (const { status, exit_code, expected } of cases) {
    it(`${status} with exit code ${exit_code}: ${expected}`, () => {
      expect(toExitStatus({ status, exit_code })).to.equal(expected);
    });
  }
});

describe('what svc submit sends', () => {
  it('is the command alone when nothing else is said, so that the server decides', () => {
    expect(toJobSubmit(['true'], {})).to.deep.equal({ command: ['true'] });
  });

  it('is everything that is said', () => {
    const options = {
      name: 'n',
      type: 'TRAIN',
      runner: 'process',
      image: 'i',
      runnerOption: { shm_size_mb: 512, network: 'host' },
      gpu: 2,
      cpuOnly: false,
      priority: -5,
      project: 'p',
      experiment: 'e',
      env: { A: '1' },
      maxAttempts: 3,
      nodeSelector: { rack: 'b2' },
      follow: true,
    } as const;
    expect(toJobSubmit(['python', 'train.py'], options)).to.deep.equal({
      command: ['python', 'train.py'],
      name: 'n',
      type: 'TRAIN',
      runner: 'process',
      image: 'i',
      runner_options: { shm_size_mb: 512, network: 'host' },
      priority: -5,
      project: 'p',
      experiment: 'e',
      env: { A: '1' },
      max_attempts: 3,
      node_selector: { rack: 'b2' },
      resources: { gpu: 2 },
    });
  });
});
