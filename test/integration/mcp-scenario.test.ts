import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { requireEngine } from '../support/engines.js';
import { McpClient, createToken, startMcp, type Answer } from '../support/mcp-client.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

/** Runs out of memory with a batch over 32, as a real training does; else it saves a checkpoint. */
const TRAINING = `
import argparse, pathlib, svc

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
batch_size = parser.parse_args().batch_size
run = svc.init(max_steps=20)
for step in range(10):
    run.log({"train/loss": 1 / (step + 1)}, step=step)
if batch_size > 32:
    raise MemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
file = pathlib.Path("checkpoint-20").resolve()
file.write_text("weights")
run.checkpoint(str(file), step=20)
`;

const EVALUATION = ['sh', '-c', `echo '{"metrics": {"acc": 0.9}, "runtime_s": 1}' > "$SVC_EVAL_OUTPUT"`];

describe('a lab that is run by next_actions alone, without a model', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let lab: McpClient;
  let folder: string;
  let python: string;

  before(async function () {
    python = requireEngine(this, 'python');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    folder = path.join(workplace.dir, 'training');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'train.py'), TRAINING);
    await evaluateByHand();
    const url = await startMcp(workplace, { SVC_URL: server.url });
    lab = await McpClient.connect(url, await createToken(server, 'write'));
  });
  after(async () => {
    await lab?.close();
    await workplace?.close();
  });

  const trainWith = (batch_size: string) => [
    'env',
    `PYTHONPATH=${ROOT}sdk/python`,
    python,
    'train.py',
    '--batch-size',
    batch_size,
  ];

  /** Somebody has evaluated another run of the project before: later evaluations are suggested to be like it. */
  async function evaluateByHand(): Promise<void> {
    const job = await submit(server.client, {
      command: trainWith('8'),
      working_dir: folder,
      resources: { cpu_only: true },
      project: 'lab',
    });
    const { run_id } = await untilJob(server.client, job.id, ({ status }) => status === 'SUCCEEDED');
    const { items } = await server.client.call(routes.listRunCheckpoints, { params: { run_id: run_id! } });
    const body = { command: EVALUATION, suite: 'heldout', resources: { cpu_only: true } };
    const params = { ckpt_id: items[0]!.id };
    const evaluation = await server.client.call(routes.createEvaluation, { params, body });
    await untilJob(server.client, evaluation.job_id, ({ status }) => status === 'SUCCEEDED');
    await server.client.call(routes.setPrimaryMetric, { body: { name: 'acc' } });
  }

  it('submits, waits, diagnoses, explains the failure, changes, submits again, evaluates and finds the best checkpoint', async () => {
    const first = await lab.call('submit_job', {
      command: trainWith('64'),
      working_dir: folder,
      cpu_only: true,
      project: 'lab',
      experiment: 'batches',
    });
    expect(first).to.include({ state: 'working', status: 'QUEUED' });

    // From here on every argument comes from next_actions.
    const failed = await lab.followJob(first);
    expect(failed).to.include({ status: 'FAILED', exit_code: 1, failure_reason: 'OOM' });
    const diagnosis = await lab.follow(failed, 'diagnose_run');
    expect(diagnosis).to.include({ status: 'FAILED', run_id: failed['run_id'] });
    const explained = await lab.follow(diagnosis, 'explain_failure');
    expect(explained['rule']).to.be.oneOf(['cuda-out-of-memory', 'host-out-of-memory']);

    const [base, changed] = explained.next_actions;
    expect(base).to.deep.include({
      tool: 'submit_job',
      args: { ...base!.args, command: failed['command'] },
    });
    expect(changed?.tool).to.equal('submit_job');
    const done = await lab.followJob(await lab.call('submit_job', changed!.args));
    expect(done).to.include({ status: 'SUCCEEDED', project: 'lab', experiment: 'batches' });
    expect(done['command']).to.deep.equal(trainWith('32'));

    const checkpoints = await lab.follow(done, 'list_checkpoints');
    expect(checkpoints['checkpoints'][0]).to.include({ step: 20, evaluations: 0 });
    const evaluated = await lab.followJob(await lab.follow(checkpoints, 'evaluate_checkpoint'));
    expect(evaluated).to.include({ status: 'SUCCEEDED', type: 'EVALUATE' });
    const evaluations = await until(() => finished(evaluated), { timeoutMs: 30_000, everyMs: 100 });
    const best = await lab.follow(evaluations, 'get_best_checkpoint');
    expect(best).to.include({ source: 'evaluation', value: 0.9, metric: 'acc', run_id: done['run_id'] });
    expect(best['checkpoint_id']).to.equal(checkpoints['checkpoints'][0].id);
  });

  /** The result is read from the file of the evaluation a moment after its job has ended. */
  async function finished(evaluated: Answer): Promise<Answer | false> {
    const found = await lab.follow(evaluated, 'list_evaluations');
    return found['evaluations'][0].status === 'SUCCEEDED' && found;
  }
});
