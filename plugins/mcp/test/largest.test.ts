import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { FakeAgent } from '@svc/agent/testing';
import { TOOL_NAMES, type ToolName } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { Lab, callRaw, callTool, textOf, type Answer } from './support/lab.js';

/** A client shows its model the tools in every conversation. */
const MOST_LIST_TOKENS = 20_000;
const EMOJI = '😀🧪';

const MOST_JOBS = 1000;
/** Their largest answers are tested with a real agent (`test/integration/mcp.test.ts`). */
const OF_LOGS: readonly ToolName[] = ['tail_logs', 'explain_failure'];

/** `callTool` counts the tokens of each answer with a tokenizer, its structured and its text form together. */
describe('the largest answers fit into a model', function () {
  this.timeout(120_000);
  let lab: Lab;
  let client: Client;
  let run: string;
  const runs: string[] = [];
  const checkpoints: string[] = [];
  const agents: FakeAgent[] = [];
  const asked = new Set<ToolName>();

  const ask = (tool: ToolName, args: object = {}): Promise<Answer> => {
    asked.add(tool);
    return callTool(client, tool, args);
  };

  before(async () => {
    lab = await Lab.open();
    client = await lab.connect('write');
    run = (await lab.post('/runs', { name: EMOJI.repeat(90) })).id;
    await lab.post(`/runs/${run}/metrics:batch`, {
      points: Array.from({ length: 10_000 }, (_, at) => ({
        seq: at,
        name: at < 5_000 ? 'train/loss' : `group/${'m'.repeat(200)}${at % 300}`,
        step: at,
        value: Math.sin(at) * 1e-7,
      })),
    });
    for (let at = 0; at < 60; at += 1) {
      const name = `job ${EMOJI.repeat(40)} ${at}`;
      const body = { name, command: ['python', 'x'.repeat(5_000)], resources: { cpu_only: true } };
      await lab.post('/jobs', body);
      await lab.post(`/runs/${run}/events`, {
        title: `${EMOJI}${at}`,
        message: EMOJI.repeat(4_000),
        severity: 'warning',
      });
      const saved = await lab.post(`/runs/${run}/checkpoints`, {
        path: `/data/${'deep/'.repeat(300)}${at}`,
        step: at * 80,
        metadata: { note: 'x'.repeat(20_000) },
      });
      checkpoints.push(saved.id);
      const other = (await lab.post('/runs', { name: `run ${at} ${EMOJI.repeat(40)}` })).id;
      runs.push(other);
      await lab.post(`/runs/${other}/metrics:batch`, {
        points: [{ seq: 0, name: 'train/loss', step: 1, value: at }],
      });
    }
    for (let at = 60; at < MOST_JOBS; at += 20)
      await Promise.all(
        Array.from({ length: 20 }, () =>
          lab.post('/jobs', { name: EMOJI.repeat(40), command: ['true'], resources: { cpu_only: true } }),
        ),
      );
    for (let at = 0; at < 30; at += 1) {
      const agent = new FakeAgent({ url: lab.kernel.url, token: lab.tokens['agent']!, hello: largeNode(at) });
      agents.push(agent);
      await agent.connect();
    }
  });
  after(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await lab.close();
  });

  it('a job with a command of 130 000 characters and 500 variables', async () => {
    const { id } = await lab.post('/jobs', {
      command: ['sh', '-c', '"\\'.repeat(65_000)],
      env: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`SOME_VARIABLE_${at}`, 'secret'])),
      resources: { cpu_only: true },
    });
    const job = await ask('get_job', { job_id: id });
    expect(job['cut']).to.be.an('array').and.not.to.be.empty;
    expect(JSON.stringify(job)).not.to.include('secret');
  });

  it('long lists say what is left', async () => {
    const checks: [ToolName, object, string][] = [
      ['list_jobs', { limit: MOST_JOBS }, 'jobs'],
      ['list_nodes', {}, 'nodes'],
      ['list_events', { run_id: run }, 'events'],
      ['list_checkpoints', { run_id: run }, 'checkpoints'],
      ['get_run_summary', { run_id: run }, 'metrics'],
      ['list_metric_definitions', {}, 'definitions'],
      ['query_metrics', { run_id: run }, 'series'],
      ['query_metrics', { run_id: run, limit: 10_000, names: ['train/loss'] }, 'series'],
      ['compare_runs', { ids: runs.slice(0, 50), metric: 'train/loss' }, 'entries'],
      ['compare_checkpoints', { ids: checkpoints.slice(0, 50), metric: 'train/loss' }, 'entries'],
    ];
    for (const [tool, args, list] of checks) {
      const answer = await ask(tool, args);
      expect(answer[list], tool).to.have.length.above(0);
    }
  });

  it('a diagnosis', async () => {
    expect(await ask('diagnose_run', { run_id: run })).to.include({ run_id: run });
  });

  it('a node with 16 GPUs, long names and many labels', async () => {
    await until(async () => (await ask('list_nodes'))['left'] > 0);
    const status = await ask('get_node_status', { node_id: agents[0]!.nodeId });
    expect(status['slots']).to.have.length.above(0);
  });

  it('the best of checkpoints with long paths, and evaluations with long labels', async () => {
    const best = await ask('get_best_checkpoint', { run_id: run, metric: 'train/loss' });
    const checkpoint_id = best['checkpoint_id'];
    for (let at = 0; at < 40; at += 1)
      await ask('evaluate_checkpoint', {
        checkpoint_id,
        command: ['python', 'x'.repeat(5_000)],
        suite: `${EMOJI.repeat(30)} ${at}`,
        dataset: EMOJI.repeat(40),
      });
    expect((await ask('list_evaluations', { checkpoint_id }))['left']).to.be.above(0);
  });

  it('handles of jobs with long commands', async () => {
    const args = { command: ['sh', '-c', EMOJI.repeat(20_000)], cpu_only: true, project: EMOJI.repeat(40) };
    const { job_id } = await ask('submit_job', args);
    await ask('cancel_job', { job_id, confirm: true });
    await ask('retry_job', { job_id });
  });

  it('every item of a long list is reached by next_actions', async () => {
    const seen = new Set<string>();
    let args: object | null = { ids: runs.slice(0, 50), metric: 'train/loss' };
    for (let asked = 0; args !== null && asked < 30; asked += 1) {
      const answer: Answer = await ask('compare_runs', args);
      for (const { run_id } of answer['entries']) seen.add(run_id);
      args = answer.next_actions.find(({ tool }) => tool === 'compare_runs')?.args ?? null;
    }
    expect(seen.size).to.equal(50);
  });

  it('an error with a long message', async () => {
    const { content } = await callRaw(
      client,
      'get_job',
      Object.fromEntries([['x'.repeat(100_000), EMOJI.repeat(9_000)]]),
    );
    expect(textOf(content).length).to.be.below(4_000);
  });

  it('were asked of every tool', () => {
    expect([...asked, ...OF_LOGS]).to.have.members(TOOL_NAMES);
  });

  it('the whole list of tools, with both schemas of each', async () => {
    const { tools } = await client.listTools();
    expect(tools).to.have.length(20);
    const tokens = countTokens(JSON.stringify(tools));
    expect(tokens, `${tokens} tokens`).to.be.at.most(MOST_LIST_TOKENS);
  });
});

function largeNode(at: number) {
  const slots = Array.from({ length: 16 }, (_, index) => ({
    index,
    uuid: `GPU-${at}-${index}-${'0'.repeat(40)}`,
    model: `NVIDIA ${'H'.repeat(80)} ${index}`,
    memory_total_mb: 81_559,
    virtual: false,
  }));
  const labels = Object.fromEntries(
    Array.from({ length: 30 }, (_, label) => [`label-${label}`, 'x'.repeat(60)]),
  );
  return { name: `node ${'n'.repeat(80)} ${at}`, labels, slots };
}
