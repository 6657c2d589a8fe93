import { chmodSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { installPackages, writeConfig, toConfigText } from '../support/configuration.js';
import { requireEngine } from '../support/engines.js';
import { readBlocks } from '../support/page.js';
import { ROOT, startProgram, type Ended } from '../support/program.js';
import { createWorkplace, untilJob, type Server, type Workplace } from '../support/workplace.js';

const EXAMPLES = readBlocks('docs/cli.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.trim().split('\n'));
/** Examples that are not typed here, and why. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^svc up\b/, 'it runs until it is stopped; test/e2e/first-day.test.ts types it'],
  [/^svc server\b/, 'it runs until it is stopped; it is the server of this test'],
  [/^svc agent\b/, 'it runs until it is stopped; it is the agent of this test'],
  [/^svc mcp --url\b/, 'it runs until it is stopped; test/integration/mcp.test.ts runs it'],
  [/^svc events watch\b/, 'it runs until it is stopped; cli/test/tools.test.ts runs it'],
  [/^svc top$/, 'it needs a terminal; cli/test/top.test.ts runs it on one'],
  [
    /^svc (evaluate|evaluations|best|compare)\b/,
    'they need checkpoints with evaluations; test/integration/evaluations.test.ts runs them',
  ],
  [/^svc run delete \w+$/, 'it asks on a terminal; cli/test/run-delete.test.ts answers it'],
];
const TRAIN = `
import svc
run = svc.init(max_steps=2)
run.log({"train/loss": 1.0, "eval/acc": 0.1}, step=1)
run.log({"train/loss": 0.5, "eval/acc": 0.2}, step=2)
`;

describe('the examples of docs/cli.md', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  /** Of a training that has ended. */
  let job: string;
  let run: string;

  before(async function () {
    const python = requireEngine(this, 'python');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await addNodeThatIsGone('gpu-8');
    await workplace.startAgent(server, ['--name', 'gpu-7', '--virtual-gpus', '2']);
    const own = (...names: string[]) => path.join(workplace.dir, ...names);
    for (const folder of ['bin', 'mine', 'config', '.config/fish/completions'])
      mkdirSync(own(folder), { recursive: true });
    writeFileSync(own('token'), server.client.connection.token ?? '');
    writeFileSync(own('mine', 'train.py'), TRAIN);
    writeFileSync(own('mine', 'preprocess.sh'), '#!/bin/sh\ntrue\n');
    writeFileSync(own('bin', 'python3'), `#!/bin/sh\nexec "${python}" "$@"\n`);
    for (const folder of ['mlruns', 'runs']) {
      mkdirSync(own('mine', folder));
      writeFileSync(own('mine', folder, 'metrics.csv'), 'epoch,step,train_loss\n0,1,0.5\n');
    }
    for (const program of [own('mine', 'preprocess.sh'), own('bin', 'python3')]) chmodSync(program, 0o755);
    symlinkSync(path.join(ROOT, 'cli', 'bin', 'svc.mjs'), own('bin', 'svc'));
    installPackages(own('config'));
    writeConfig(own('config'), toConfigText());
    job = await submit('--project vision python3 train.py');
    const ended = await untilJob(server.client, job, ({ status }) => status === 'SUCCEEDED');
    run = ended.run_id ?? '';
  });
  after(() => workplace?.close());

  /** Drained, so that it can be removed at once. */
  async function addNodeThatIsGone(name: string): Promise<void> {
    const agent = await workplace.startAgent(server, [
      '--name',
      name,
      '--state-dir',
      `${workplace.dir}/gone`,
    ]);
    agent.kill();
    await agent.ended;
    const { items } = await server.client.call(routes.listNodes);
    const params = { node_id: items.find((node) => node.name === name)?.id ?? '' };
    await server.client.call(routes.drainNode, { params });
    await until(async () => {
      const node = await server.client.call(routes.getNode, { params });
      return node.connected_at === null;
    });
  }

  /** In the folder with the training. */
  function type(line: string): Promise<Ended> {
    const PATH = `${path.join(workplace.dir, 'bin')}:${process.env['PATH']}`;
    const env = { PATH, HOME: workplace.dir, TMPDIR: workplace.dir, SVC_DATA_DIR: workplace.dataDir };
    return startProgram('bash', ['-c', line], env, path.join(workplace.dir, 'mine')).ended;
  }

  const submit = async (words: string): Promise<string> => (await type(`svc submit ${words}`)).stdout.trim();

  async function createRun(isEnded: boolean): Promise<string> {
    const { id } = await server.client.call(routes.createRun, { body: { name: 'by-hand' } });
    const params = { run_id: id };
    if (isEnded) await server.client.call(routes.finishRun, { params, body: { status: 'SUCCEEDED' } });
    return id;
  }

  /** What the id of an example stands for: the first line that fits. */
  const IDS: readonly (readonly [RegExp, () => string | Promise<string>])[] = [
    [/^svc cancel/, () => submit('--gpu 64 true')],
    [/^svc code/, () => submit('--upload --cpu-only ./preprocess.sh')],
    [/^svc run finish/, () => createRun(false)],
    [/^svc run delete/, () => createRun(true)],
    [/^svc (run|export|detectors|diagnose)/, () => run],
    [
      /^svc token/,
      async () => (await server.client.call(routes.createToken, { body: { name: 'old', scope: 'read' } })).id,
    ],
    [/^/, () => job],
  ];
  /** What has to be typed before. */
  const FIRST: Readonly<Record<string, () => Promise<unknown>>> = {
    // What has ended cannot be cancelled.
    'svc cancel X8R2QF train.py': () => submit('--gpu 64 python3 train.py'),
    'svc profile use lab': () => type(`svc login ${server.url} --profile lab --token-stdin < ../token`),
  };

  /** The last six characters, as the lists show them. */
  async function takeId(example: string): Promise<string> {
    const find = IDS.find(([begins]) => begins.test(example))?.[1];
    return ((await find?.()) ?? '').slice(-6);
  }

  async function toTyped(example: string): Promise<string> {
    await FIRST[example]?.();
    let typed = example;
    for (const id of ['X8R2QF', 'M4K7TD'])
      if (typed.includes(id)) typed = typed.replace(id, await takeId(example));
    const backup = () =>
      path.join(workplace.dataDir, 'backups', readdirSync(`${workplace.dataDir}/backups`)[0] ?? '');
    return typed
      .replace('node rm gpu-7', 'node rm gpu-8')
      .replace(/\brun_\w{26}\b/, run)
      .replace('"${fpath[1]}/_svc"', '_svc')
      .replace('--config svc.config.ts', '--config ../config/svc.config.ts')
      .replace(/~\/\.svc\/backups\/\S+/, () => `${backup()} --data-dir ../restored`)
      .replace(/(?<=^svc login )\S+/, server.url)
      .replace(/http:..(127\.0\.0\.1|gpu-server):8600/, server.url)
      .replace(/^svc login.*/, (line) => `${line.replace(' --token-stdin', '')} --token-stdin < ../token`);
  }

  const isTyped = (example: string) => !ELSEWHERE.some(([expression]) => expression.test(example));

  for (const example of EXAMPLES.filter(isTyped)) {
    it(example, async () => {
      const { status, stderr } = await type(await toTyped(example));
      expect(status, stderr).to.equal(0);
    });
  }

  it('have left what they say', () => {
    const read = (file: string) => readFileSync(path.join(workplace.dir, 'mine', file), 'utf8');
    expect(read('as-submitted/train.py')).to.equal(TRAIN);
    expect(read('run.parquet').slice(0, 4)).to.equal('PAR1');
    expect(read('now.txt')).to.contain('gpu-7');
  });
});
