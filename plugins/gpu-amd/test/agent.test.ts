import { startAgent, createAgentLog, type Agent } from '@svc/agent';
import { FakeServer, runnerPlugin, ScriptedRunner, TOKEN, until } from '@svc/agent/testing';
import { expect } from 'chai';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import gpuAmd from '../src/agent.js';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));

/** A real agent with programs that play recorded answers in place of amd-smi and rocm-smi. */
describe('gpu-amd: an agent', () => {
  let dir: string;
  let server: FakeServer;
  let runner: ScriptedRunner;
  let agent: Agent | undefined;
  let logged: string[];
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-amd-'));
    server = await FakeServer.listen();
    runner = new ScriptedRunner();
    logged = [];
  });
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
    await server.close();
    rmSync(dir, { recursive: true });
  });

  /** `$file`: the answer to the question, whose first word is the subcommand. */
  function play(name: string, file: string): string {
    const program = path.join(dir, name);
    writeFileSync(program, `#!/bin/sh\necho "$*" >> "${dir}/asked"\n${file}\n`);
    chmodSync(program, 0o755);
    return program;
  }
  const asked = () => readFileSync(path.join(dir, 'asked'), 'utf8').trim().split('\n');
  const amdSmi = (folder: string) => play('amd-smi', `exec cat "${FIXTURES}/${folder}/$1.json"`);
  const rocmSmi = (folder: string) =>
    play(
      'rocm-smi',
      `case "$*" in *--showproductname*) part=describe ;; *) part=measure ;; esac\nexec cat "${FIXTURES}/${folder}/$part.json"`,
    );
  async function start(programs: { amdSmi?: string; rocmSmi?: string }): Promise<void> {
    const missing = { amdSmi: path.join(dir, 'no-amd-smi'), rocmSmi: path.join(dir, 'no-rocm-smi') };
    agent = await startAgent({
      url: server.url,
      token: TOKEN,
      stateDir: path.join(dir, 'state'),
      name: 'node-1',
      log: createAgentLog({ level: 'debug', write: (line) => logged.push(line) }),
      plugins: [runnerPlugin(runner), gpuAmd({ ...missing, ...programs })],
    });
    await agent.ready;
  }
  const slots = () => server.all('hello')[0]?.slots ?? [];
  const newest = (name: string) =>
    server
      .all('node_metrics')
      .flatMap(({ values }) => values[name] ?? [])
      .findLast((value) => value !== null);
  async function environmentOf(gpu_indices: number[], job: string) {
    server.dispatch({ job_id: `job_${job.padStart(26, '0')}`, attempt: 1, gpu_indices, plan: {} });
    const { starts } = runner;
    await until(() => runner.starts > starts, 'the start');
    return runner.environments.at(-1) ?? {};
  }

  it('offers the GPUs that amd-smi tells, measures them, and shows a job its own', async () => {
    await start({ amdSmi: amdSmi('amd-smi-rocm-7.2-mi300x') });
    expect(slots().map(({ model }) => model)).to.deep.equal(['AMD Instinct MI300X', 'AMD Instinct MI300X']);
    await until(() => newest('gpu.0.util') === 94, { timeoutMs: 20_000, what: 'the figures' });
    const frame = server.all('node_metrics').find(({ processes }) => processes.length > 0);
    expect(frame?.processes[0]).to.include({ gpu: 0, pid: 4242, mem_mb: 16_856 });
    expect(await environmentOf([1], '1')).to.include({ HIP_VISIBLE_DEVICES: '1', CUDA_VISIBLE_DEVICES: '1' });
    expect(await environmentOf([], '2')).to.include({ HIP_VISIBLE_DEVICES: '-1', CUDA_VISIBLE_DEVICES: '' });
    expect(asked().every((question) => question.endsWith('--json'))).to.equal(true);
  }).timeout(30_000);

  it('asks rocm-smi where there is no amd-smi', async () => {
    await start({ rocmSmi: rocmSmi('rocm-smi-6.2-radeon') });
    expect(slots().map(({ model }) => model)).to.deep.equal(['Radeon RX 7900 XTX']);
    await until(() => newest('gpu.0.util') === 37, { timeoutMs: 20_000, what: 'the figures' });
  }).timeout(30_000);

  it('lists the GPUs also with an amd-smi that does not know the numbers of HIP', async () => {
    const file = `[ "$2" = -e ] && { echo 'error: unknown argument -e' >&2; exit 1; }\nexec cat "${FIXTURES}/amd-smi-rocm-7.2-mi300x/$1.json"`;
    await start({ amdSmi: play('amd-smi', file) });
    expect(slots()).to.have.length(2);
  });

  it('asks rocm-smi where amd-smi does not work', async () => {
    const broken = play('amd-smi', 'echo "ModuleNotFoundError: amdsmi" >&2; exit 1');
    await start({ amdSmi: broken, rocmSmi: rocmSmi('rocm-smi-6.2-radeon') });
    expect(slots()).to.have.length(1);
  });

  it('says once that neither works, and takes jobs without a GPU all the same', async () => {
    await start({ amdSmi: play('amd-smi', 'echo "no driver" >&2; exit 1') });
    expect(slots()).to.deep.equal([]);
    expect(logged.filter((line) => line.includes('the GPUs of this host cannot be told'))).to.have.length(1);
    expect(await environmentOf([], '1')).not.to.have.property('HIP_VISIBLE_DEVICES');
  });

  it('starts nothing where neither is installed', async () => {
    await start({});
    expect(slots()).to.deep.equal([]);
    expect(logged.filter((line) => /warn|error/.test(line))).to.deep.equal([]);
    expect(await environmentOf([], '1')).not.to.have.property('HIP_VISIBLE_DEVICES');
  });
});
