import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CALLS, toConfigText, writeConfig } from '../support/configuration.js';
import { requireEngine } from '../support/engines.js';
import { installPacked, runIn, startTool } from '../support/packages.js';
import { readFiles } from '../support/page.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const NAME = 'svc-plugin-runner-nice';
const NICENESS = 7;
/** It adds to what the tests themselves run under. */
const SEEN = Math.min(19, os.getPriority() + NICENESS);
const AGENT_CONFIG = `import { defineAgentConfig } from '@svc/agent';
import pythonSdk from '@svc/plugin-python-sdk/agent';
import runnerProcess from '@svc/plugin-runner-process/agent';
import runnerNice from '${NAME}/agent';
export default defineAgentConfig({ plugins: [runnerProcess(), runnerNice(), pythonSdk(['nice'])] });
`;

describe('a runner of a third party, written from docs/plugins.md and installed from its package', function () {
  this.timeout(300_000);
  /** Where it is written. */
  let source: string;
  let folder: string;
  let workplace: Workplace;
  let server: Server;

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'svc-third-party-'));
    source = path.join(folder, NAME);
    await installPacked(folder);
    cpSync(path.join(ROOT, 'test', 'fixtures', NAME), source, { recursive: true });
    workplace = createWorkplace({ isInstalled: true });
  });
  after(async () => {
    await workplace.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is compiled and packed as the page says', async () => {
    const shown = readFiles('docs/plugins.md');
    for (const file of ['package.json', 'tsconfig.json']) {
      const text = shown.get(`svc-plugin-runner-taskset/${file}`)?.replaceAll('taskset', 'nice');
      expect(readFileSync(path.join(source, file), 'utf8'), file).to.equal(text);
    }
    await runIn(source, 'npm', 'pack', '--silent');
    expect(readdirSync(source)).to.include(`${NAME}-1.0.0.tgz`);
  });

  it('passes runnerConformance', async () => {
    const args = ['--import=tsx', '--timeout', '60000', `${NAME}/test/*.test.ts`];
    const { status, stdout, stderr } = await startTool(folder, 'mocha', ...args);
    expect(status, `${stdout}\n${stderr}`).to.equal(0);
    expect(stdout).to.include('runner nice: conformance');
  });

  describe('in a folder with nothing but the packages', () => {
    before(async () => {
      await installPacked(workplace.dir, [path.join(source, `${NAME}-1.0.0.tgz`)]);
      const calls = [...CALLS, 'runnerNice()'];
      writeConfig(workplace.dir, `import { runnerNice } from '${NAME}';\n${toConfigText(calls)}`);
      writeFileSync(path.join(workplace.dir, 'svc.agent.config.ts'), AGENT_CONFIG);
      server = await workplace.startServer();
      await workplace.startAgent(server);
    });

    it('runs a job under nice, whose niceness is in its log and among the metrics of its node', async () => {
      const { client } = server;
      const go = path.join(workplace.dir, 'go');
      const job = await submit(client, {
        runner: 'nice',
        runner_options: { niceness: NICENESS },
        command: ['sh', '-c', 'nice; while [ ! -e "$0" ]; do sleep 0.1; done', go],
        resources: { cpu_only: true },
      });
      const { node_id } = await untilJob(client, job.id, ({ status }) => status === 'RUNNING');
      const measured = await until(async () => {
        const { metrics } = await client.call(routes.getNodeSnapshot, { params: { node_id: node_id! } });
        return metrics['nice.niceness'];
      });
      expect(measured!.value).to.equal(SEEN);

      writeFileSync(go, '');
      const ended = await untilJob(client, job.id, ({ finished_at }) => finished_at !== null);
      expect(ended).to.include({ status: 'SUCCEEDED', exit_code: 0 });
      const { lines } = await client.call(routes.tailLogs, { params: { job_id: job.id }, query: {} });
      expect(lines.map(({ text }) => text)).to.deep.equal([String(SEEN)]);
    });

    it('has the Python SDK in its jobs', async function () {
      const python = requireEngine(this, 'python');
      const { id } = await submit(server.client, {
        runner: 'nice',
        command: [python, '-c', 'import svc; svc.init().log({"loss": 1})'],
        resources: { cpu_only: true },
      });
      const { run_id } = await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
      const params = { run_id: run_id! };
      const { metrics } = await server.client.call(routes.getRunSummary, { params });
      expect(metrics['loss']?.latest.value).to.equal(1);
    });

    it('takes the default, and refuses a niceness that there is not', async () => {
      const { client } = server;
      const resources = { cpu_only: true };
      const { id, runner_options } = await submit(client, { runner: 'nice', command: ['nice'], resources });
      expect(runner_options).to.deep.equal({ niceness: 10 });
      expect((await untilJob(client, id, ({ finished_at }) => finished_at !== null)).status).to.equal(
        'SUCCEEDED',
      );
      const wrong = { runner: 'nice', runner_options: { niceness: 20 }, command: ['nice'], resources };
      const refusal = await submit(client, wrong).catch((error: Error) => error);
      expect(refusal).to.have.property('message').that.includes('runner_options.niceness');
    });
  });
});
