import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { readMentions } from '../support/page.js';
import { ROOT, startProgram, type Ended } from '../support/program.js';
import { createWorkplace, untilJob, type Server, type Workplace } from '../support/workplace.js';

const MENTIONS = [...new Set(readMentions('docs/coming-from.md'))];
/** Commands that are not run here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'svc import mlflow.db': 'it needs a database of MLflow; cli/test/import runs it',
  'svc submit --runner docker --image IMAGE --upload python3 train.py':
    'it needs a container engine; test/integration/containers.test.ts runs such jobs',
  'svc server': 'it runs until it is stopped; it is the server of this test',
  'svc agent': 'it runs until it is stopped; it is the agent of this test',
  'svc top': 'it needs a terminal; cli/test/top.test.ts runs it on one',
  'svc up': 'test/e2e/first-day.test.ts types it',
};
const TRAIN = `
import svc
run = svc.init(project="p", experiment="EXPERIMENT", max_steps=2)
run.log({"loss": 1.0}, step=1)
run.log({"loss": 0.5}, step=2)
`;

describe('the commands of docs/coming-from.md', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let job: string;

  before(async function () {
    const python = requireEngine(this, 'python');
    workplace = createWorkplace();
    server = await workplace.startServer();
    const args = ['--name', 'NODE', '--virtual-gpus', '1', '--label', 'gpu=a100'];
    await workplace.startAgent(server, args);
    for (const folder of ['bin', 'mine']) mkdirSync(path.join(workplace.dir, folder));
    const write = (file: string, text: string) => writeFileSync(path.join(workplace.dir, file), text);
    write('token', server.client.connection.token ?? '');
    write('mine/train.py', TRAIN);
    write('mine/train.sh', 'true\n');
    for (const folder of ['DIR', 'wandb', 'mlruns', 'runs']) {
      mkdirSync(path.join(workplace.dir, 'mine', folder));
      write(`mine/${folder}/metrics.csv`, 'epoch,step,train_loss\n0,1,0.5\n');
    }
    write('bin/python3', `#!/bin/sh\nexec "${python}" "$@"\n`);
    chmodSync(path.join(workplace.dir, 'bin', 'python3'), 0o755);
    symlinkSync(path.join(ROOT, 'cli', 'bin', 'svc.mjs'), path.join(workplace.dir, 'bin', 'svc'));
    job = (await type('svc submit --cpu-only python3 train.py')).stdout.trim();
    await untilJob(server.client, job, ({ status }) => status === 'SUCCEEDED');
  });
  after(() => workplace?.close());

  /** In the folder with the training. */
  function type(line: string): Promise<Ended> {
    const PATH = `${path.join(workplace.dir, 'bin')}:${process.env['PATH']}`;
    const env = { PATH, HOME: workplace.dir, TMPDIR: workplace.dir, SVC_DATA_DIR: workplace.dataDir };
    return startProgram('bash', ['-c', line], env, path.join(workplace.dir, 'mine')).ended;
  }

  async function toTyped(mention: string): Promise<string> {
    // What has ended cannot be cancelled.
    const waits = mention.startsWith('svc cancel')
      ? (await type('svc submit --gpu 64 true')).stdout.trim()
      : job;
    const { run_id } = await untilJob(server.client, job, () => true);
    return mention
      .replace(/\bJOB\b/, waits)
      .replace(/\bRUN\b/, run_id ?? '')
      .replace(/\bURL\b/, `${server.url} --token-stdin < ../token`);
  }

  for (const mention of MENTIONS.filter((one) => !(one in ELSEWHERE))) {
    it(mention, async () => {
      const { status, stderr } = await type(await toTyped(mention));
      expect(status, stderr).to.equal(0);
    });
  }
});
