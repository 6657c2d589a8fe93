import { stripVTControlCharacters } from 'node:util';
import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import { newId } from '@svc/contract';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { service } from '@svc/plugin-service';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { widthOf } from '../src/output/text-width.js';
import { startOnTerminal } from './support/terminal.js';
import { runHere } from './support/svc.js';

const COLUMNS = 60;
const LONG = 'a-name-that-is-much-too-long-for-one-column-of-a-narrow-terminal';
const WIDE = '\u8a13\u7df4'.repeat(30);

describe('a list on a terminal of 60 columns', () => {
  let rig: Rig;
  let env: NodeJS.ProcessEnv;
  let failed: string;
  let waiting: string;
  let project: string;
  let gpuNode: FakeAgent;
  before(async () => {
    rig = await Rig.start({ plugins: [service(), logs(), metrics(), nodeMetrics()] });
    env = { SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
    const agent = await rig.agent();
    const job = await rig.submit({
      name: LONG,
      project: LONG,
      priority: 7,
      node_selector: { node: agent.nodeId },
    });
    failed = job.id;
    for (const attempt of [1, 2]) {
      await agent.startJob(failed, attempt);
      await rig.reach(failed, 'RUNNING');
      agent.end(
        failed,
        { kind: 'oom', code: 1, evidence: `torch.OutOfMemoryError: ${LONG} ${LONG}` },
        attempt,
      );
      await rig.reach(failed, 'FAILED');
      if (attempt === 1) await rig.post(`/jobs/${failed}/retry`);
    }
    ({ id: waiting } = await rig.submit({ name: WIDE, project: LONG, node_selector: { [LONG]: LONG } }));
    const short = await rig.submit({ name: 'short' });
    await agent.startJob(short.id);
    for (const name of [LONG, WIDE]) await rig.post('/tokens', { name, scope: 'read' });
    gpuNode = new FakeAgent({
      url: rig.kernel.url,
      token: rig.tokens.agent,
      hello: {
        node_id: newId('node'),
        name: LONG,
        labels: { [LONG]: WIDE },
        slots: virtualSlots(8).map((slot) => ({ ...slot, virtual: false, model: `NVIDIA ${LONG}` })),
      },
    });
    await gpuNode.connect();
    const run = await rig.createRun({ name: LONG, project: LONG, experiment: LONG, tags: [LONG, WIDE] });
    project = run.project_id;
    await rig.post(`/runs/${run.id}/events`, { title: WIDE, severity: 'critical' }, rig.tokens.sdk);
    await rig.kernel.request('PUT', `/metric-definitions/${LONG}`, {
      token: rig.tokens.write,
      body: { unit: 'samples/s', description: LONG, direction: 'maximize', is_primary: true },
    });
  });
  after(async () => {
    await gpuNode.close();
    await rig.close();
  });

  async function show(...args: string[]): Promise<string[]> {
    const svc = startOnTerminal(COLUMNS, args, env);
    const status = await svc.ended;
    expect(status, svc.stdout()).to.equal(0);
    const lines = stripVTControlCharacters(svc.stdout()).trimEnd().split('\r\n');
    for (const line of lines) expect(widthOf(line), line).to.be.at.most(COLUMNS);
    return lines;
  }
  /** What stands in the first column, below the title. */
  const firstOf = (lines: readonly string[]) =>
    lines.slice(1).map((line) => line.trim().split(/\s+/)[0] ?? '');

  it('of jobs fits, and its ids name the jobs', async () => {
    const ids = firstOf(await show('jobs'));
    expect(ids).to.have.length(3);
    for (const id of ids) {
      const { status, stdout } = await runHere(['job', id, '--json'], env);
      expect(status).to.equal(0);
      expect((JSON.parse(stdout) as { id: string }).id.endsWith(id)).to.equal(true);
    }
    expect(ids).to.include.members([failed.slice(-6), waiting.slice(-6)]);
  });

  it('of attempts fits, and its runs can be named', async () => {
    const lines = await show('attempts', failed.slice(-6));
    expect(firstOf(lines)).to.deep.equal(['2', '1']);
  });

  it('of tokens fits, and its ids name the tokens', async () => {
    for (const id of firstOf(await show('token', 'list')).slice(0, 2)) {
      const { status, stdout } = await runHere(['token', 'revoke', id, '--json'], env);
      expect(status).to.equal(0);
      expect((JSON.parse(stdout) as { id: string }).id.endsWith(id)).to.equal(true);
    }
    await show('token', 'list');
  });

  it('of nodes fits: name, state and slots before when it was heard of and its labels', async () => {
    const lines = await show('nodes');
    expect(lines[0]).to.match(/^ID +NAME +STATUS +GPUS BUSY +CPU JOBS/);
    expect(firstOf(lines)).to.include(gpuNode.nodeId.slice(-6));
  });

  it('of projects fits, and its ids name the projects', async () => {
    const lines = await show('projects');
    const id = lines[1]?.match(/ago +(\w{6})\b/)?.[1] ?? '';
    expect(project.endsWith(id), lines.join('\n')).to.equal(true);
    const { stdout } = await runHere(['runs', '--project', id, '--json'], env);
    expect((JSON.parse(stdout) as { items: unknown[] }).items).not.to.have.length(0);
  });

  for (const [args, head] of [
    [['runs'], /^ID +NAME .*STATUS +STEP/],
    [['events'], /^WHEN +SEVERITY +TYPE +JOB .*TITLE$/],
    [['metrics', 'list'], /^METRIC +DIRECTION +UNIT +APPLIES TO/],
    [['top', '--once'], /^svc \S+ at http\S+/],
  ] as const)
    it(`of svc ${args.join(' ')} fits`, async () => {
      const lines = await show(...args);
      expect(lines[0]).to.match(head);
      expect(lines.length).to.be.at.least(2);
    });

  it('of what the server does fits, names the job that waits, and leaves no state out', async () => {
    const row = await rig.kernel.db('jobs').where({ id: failed }).first();
    for (const [at, status] of ['SUCCEEDED', 'CANCELLED', 'LOST'].entries())
      await rig.kernel.db('jobs').insert({ ...row, id: newId('job'), created_at: 1000 + at, status });
    const shown = (await show('status')).join('\n');
    expect(shown).to.contain(waiting.slice(-6));
    expect(shown).to.match(/^jobs +1 QUEUED, .*,\n +.*1 LOST$/m);
    for (const status of ['SUCCEEDED', 'FAILED', 'CANCELLED']) expect(shown).to.contain(`1 ${status},`);
  });
});
