import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'chai';
import { Lab, callRaw, callTool, textOf } from './support/lab.js';

const EMOJI = '😀🧪';

/** `callTool` counts the tokens of each answer with a tokenizer. */
describe('the largest answers fit into a model', function () {
  this.timeout(120_000);
  let lab: Lab;
  let client: Client;
  let run: string;
  const runs: string[] = [];

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
      await lab.post(`/runs/${run}/checkpoints`, {
        path: `/data/${'deep/'.repeat(300)}${at}`,
        step: at * 80,
        metadata: { note: 'x'.repeat(20_000) },
      });
      const other = (await lab.post('/runs', { name: `run ${at} ${EMOJI.repeat(40)}` })).id;
      runs.push(other);
      await lab.post(`/runs/${other}/metrics:batch`, {
        points: [{ seq: 0, name: 'train/loss', step: 1, value: at }],
      });
    }
  });
  after(() => lab.close());

  it('a job with a command of 130 000 characters and 500 variables', async () => {
    const { id } = await lab.post('/jobs', {
      command: ['sh', '-c', '"\\'.repeat(65_000)],
      env: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`SOME_VARIABLE_${at}`, 'secret'])),
      resources: { cpu_only: true },
    });
    const job = await callTool(client, 'get_job', { job_id: id });
    expect(job['cut']).to.be.an('array').and.not.to.be.empty;
    expect(JSON.stringify(job)).not.to.include('secret');
  });

  it('long lists say what is left', async () => {
    const checks: [Parameters<typeof callTool>[1], object, string][] = [
      ['list_jobs', { limit: 1000 }, 'jobs'],
      ['list_events', { run_id: run }, 'events'],
      ['list_checkpoints', { run_id: run }, 'checkpoints'],
      ['get_run_summary', { run_id: run }, 'metrics'],
      ['list_metric_definitions', {}, 'definitions'],
      ['query_metrics', { run_id: run }, 'series'],
      ['query_metrics', { run_id: run, limit: 10_000, names: ['train/loss'] }, 'series'],
      ['compare_runs', { ids: runs.slice(0, 50), metric: 'train/loss' }, 'entries'],
    ];
    for (const [tool, args, list] of checks) {
      const answer = await callTool(client, tool, args);
      expect(answer[list], tool).to.have.length.above(0);
    }
  });

  it('a diagnosis', async () => {
    expect(await callTool(client, 'diagnose_run', { run_id: run })).to.include({ run_id: run });
  });

  it('every item of a long list is reached by next_actions', async () => {
    const seen = new Set<string>();
    let args: object | null = { ids: runs.slice(0, 50), metric: 'train/loss' };
    for (let asked = 0; args !== null && asked < 30; asked += 1) {
      const answer: Awaited<ReturnType<typeof callTool>> = await callTool(client, 'compare_runs', args);
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

  it('the list of tools itself stays readable', async () => {
    const { tools } = await client.listTools();
    const inputs = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(JSON.stringify(inputs).length).to.be.below(24_000);
  });
});
