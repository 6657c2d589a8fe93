import { expect } from 'chai';
import { toActionLines } from '../src/commands/next-actions.js';

describe('next actions, as a person would type them', () => {
  const reason = 'why';

  it('names the attempt that svc explain is to look at', () => {
    const job_id = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';
    expect(toActionLines([{ tool: 'explain_failure', args: { job_id, attempt: 2 }, reason }])).to.deep.equal([
      `svc explain ${job_id} --attempt 2`,
      '  why',
    ]);
    expect(toActionLines([{ tool: 'explain_failure', args: { job_id }, reason }])[0]).to.equal(
      `svc explain ${job_id}`,
    );
  });

  it('submits a container job with its container', () => {
    const args = {
      command: ['python3', 'train.py'],
      cpu_only: true,
      runner: 'docker',
      image: 'train:1',
      runner_options: { memory_mb: 2048, mounts: ['/data:/data:ro'], network: '7' },
    };
    expect(toActionLines([{ tool: 'submit_job', args, reason }])[0]).to.equal(
      `svc submit --cpu-only --no-working-dir --runner docker --image train:1 --runner-option memory_mb=2048 --runner-option 'mounts=["/data:/data:ro"]' --runner-option 'network="7"' -- python3 train.py`,
    );
  });

  it('evaluates a checkpoint with its labels before it and the command behind it', () => {
    const args = { checkpoint_id: 'ckpt_1', command: ['python', 'eval.py', 'a b'], dataset_version: '2' };
    expect(toActionLines([{ tool: 'evaluate_checkpoint', args, reason }])[0]).to.equal(
      "svc evaluate --dataset-version 2 ckpt_1 python eval.py 'a b'",
    );
  });
});
