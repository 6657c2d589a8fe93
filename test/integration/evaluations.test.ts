import { routes, type BestCheckpoint, type Checkpoint, type Evaluation, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const CPU = { resources: { cpu_only: true } };
const RESULT = '{"metrics": {"acc": 0.9, "loss": "NaN"}, "runtime_s": 1.5}';

describe('svc evaluate', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let folder: string;

  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    folder = path.join(workplace.dir, 'project');
    mkdirSync(folder);
  });
  after(() => workplace.close());

  const svc = async (...args: string[]) => {
    const { status, stdout, stderr } = await workplace.svc(args);
    expect(status, stderr).to.equal(0);
    return stdout;
  };
  const untilOver = async (id: string): Promise<Evaluation> =>
    (await until(
      async () => {
        const evaluation = await server.client.call(routes.getEvaluation, { params: { eval_id: id } });
        return evaluation.status === 'QUEUED' ? null : evaluation;
      },
      { timeoutMs: 60_000, everyMs: 50 },
    ))!;
  const jobOf = ({ job_id }: Evaluation): Promise<Job> =>
    server.client.call(routes.getJob, { params: { job_id } });
  /** A training that has ended, and a checkpoint that it saved. */
  async function train(body: object, name: string): Promise<Checkpoint> {
    const { id } = await submit(server.client, { command: ['true'], ...CPU, ...body });
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    const { items } = await server.client.call(routes.listJobRuns, { params: { job_id: id } });
    const file = path.join(folder, name);
    writeFileSync(file, `weights of ${name}`);
    const params = { run_id: items[0]!.id };
    return server.client.call(routes.createCheckpoint, { params, body: { path: file, step: 7 } });
  }

  it('runs the command beside the checkpoint, and attaches what it has found', async () => {
    const { id, path: file } = await train({ working_dir: folder }, 'checkpoint-7');
    const script = `pwd; cat "$SVC_EVAL_CHECKPOINT"; echo; echo "$SVC_EVAL_ID"; echo '${RESULT}' > "$SVC_EVAL_OUTPUT"`;
    const stdout = await svc(
      'evaluate',
      '--suite',
      'heldout',
      '--follow',
      'checkpoint-7',
      '--',
      'sh',
      '-c',
      script,
    );
    const [directory, weights, evalId, shown] = stdout.split('\n');
    expect([directory, weights]).to.deep.equal([folder, `weights of ${path.basename(file)}`]);
    expect(shown).to.equal(`${evalId}  SUCCEEDED`);
    expect(stdout).to.match(/acc +0\.9\nloss +NaN/);
    const { metadata } = await server.client.call(routes.getCheckpoint, { params: { ckpt_id: id } });
    expect(metadata.evaluations.map(({ id: found, metrics }) => [found, metrics])).to.deep.equal([
      [evalId, { acc: 0.9, loss: 'NaN' }],
    ]);
    const best = JSON.parse(
      await svc('best', '--metric', 'acc', '--suite', 'heldout', '--json'),
    ) as BestCheckpoint;
    expect(best).to.include({ checkpoint_id: id, value: 0.9, source: 'evaluation' });
    expect(await svc('best', '--metric', 'acc')).to.contain(`${id}  acc 0.9`);
    expect(await svc('evaluations', 'checkpoint-7')).to.match(
      /checkpoint-7 .* heldout .* SUCCEEDED .* acc 0\.9, loss NaN/,
    );
    expect(await svc('explain', evalId!)).to.contain('It did not fail: it succeeded.');
    await svc('metrics', 'set', 'acc', '--primary');
    expect(await svc('run', best.run_id)).to.match(new RegExp(`^${id} +7 +yes `, 'm'));
  });

  it('is what svc resubmit of its job names, which would find nothing for a result', async () => {
    const checkpoint = await train({ working_dir: folder }, 'checkpoint-again');
    const params = { ckpt_id: checkpoint.id };
    const evaluation = await server.client.call(routes.createEvaluation, {
      params,
      body: { command: ['true', 'x y'] },
    });
    const { status, stderr } = await workplace.svc(['resubmit', evaluation.job_id]);
    expect(status).to.equal(1);
    expect(stderr).to.contain(`svc evaluate ${checkpoint.id} true 'x y'`);
  });

  it('fails clearly when the checkpoint was deleted, or the working directory is not there', async () => {
    const checkpoint = await train({ working_dir: folder }, 'checkpoint-gone');
    const create = (body: object): Promise<Evaluation> =>
      server.client.call(routes.createEvaluation, {
        params: { ckpt_id: checkpoint.id },
        body: { command: ['true'], ...body },
      });
    const elsewhere = await untilOver((await create({ working_dir: path.join(folder, 'nowhere') })).id);
    expect(elsewhere.status).to.equal('FAILED');
    expect(elsewhere.error).to.match(/working_dir .*nowhere does not exist/);
    rmSync(checkpoint.path);
    const deleted = await untilOver((await create({})).id);
    expect(deleted).to.include({ status: 'FAILED' });
    expect(deleted.error).to.contain(`the checkpoint ${checkpoint.path} does not exist`);
    expect((await jobOf(deleted)).failure_reason).to.equal('DISPATCH_FAILED');
  });

  it('does not take a result that came with the source tree for one of its own', async () => {
    const source = path.join(workplace.dir, 'source');
    mkdirSync(source);
    writeFileSync(path.join(source, 'result.json'), RESULT);
    const id = (await svc('submit', '--upload', source, '--cpu-only', 'true')).trim();
    const { snapshot } = await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    const checkpoint = await train({ snapshot }, 'checkpoint-8');
    const env = { SVC_EVAL_OUTPUT: 'result.json' };
    const run = async (command: string[]): Promise<Evaluation> => {
      const params = { ckpt_id: checkpoint.id };
      const created = await server.client.call(routes.createEvaluation, { params, body: { command, env } });
      return untilOver(created.id);
    };
    const old = await run(['true']);
    expect((await jobOf(old)).failure_reason).to.equal('EVALUATION_RESULT_INVALID');
    expect(old.error).to.contain('is from before the evaluation and was not written by it');
    const own = await run(['sh', '-c', `echo '${RESULT}' > result.json`]);
    expect(own).to.deep.include({ status: 'SUCCEEDED', metrics: { acc: 0.9, loss: 'NaN' } });
  });

  it('compares checkpoints and runs, best first', async () => {
    const saved = [
      await train({ working_dir: folder, project: 'vision' }, 'checkpoint-a'),
      await train({ working_dir: folder }, 'checkpoint-b'),
    ];
    for (const [index, { id }] of saved.entries()) {
      const result = `{"metrics": {"f1": 0.${index + 1}}, "runtime_s": 1}`;
      await svc('evaluate', '-f', id, 'sh', '-c', `echo '${result}' > "$SVC_EVAL_OUTPUT"`);
    }
    expect(await svc('jobs'))
      .to.match(/ eval:\S+ +vision +SUCCEEDED /)
      .and.not.contain(' prj_');
    const ofCheckpoints = await svc('compare', ...saved.map(({ id }) => id), '--metric', 'f1');
    expect(ofCheckpoints.split('\n')[2]).to.match(
      new RegExp(`^1 \\* +${saved[1]!.id} +checkpoint-b +0.2 +evaluation`),
    );
    const ofRuns = await svc('compare', ...saved.map(({ run_id }) => run_id), '--metric', 'f1');
    expect(ofRuns.split('\n')[2]).to.match(new RegExp(`^1 \\* +${saved[1]!.run_id} `));
    const { status, stderr } = await workplace.svc(['compare', saved[0]!.id, '--metric', 'f1']);
    expect([status, stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && text.includes('2 to 50'),
    );
  });
});
