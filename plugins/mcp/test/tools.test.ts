import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { TOOL_NAMES, newId } from '@svc/contract';
import { expect } from 'chai';
import { Lab, callRaw, callTool, refusalOf, textOf } from './support/lab.js';

const CONTROL = ['submit_job', 'evaluate_checkpoint', 'cancel_job', 'retry_job'];

describe('the 20 tools, through the official client', function () {
  this.timeout(60_000);
  let lab: Lab;
  let writer: Client;
  let reader: Client;
  let run: string;
  let job: string;
  let checkpoint: string;

  before(async () => {
    lab = await Lab.open();
    writer = await lab.connect('write');
    reader = await lab.connect('read');
    const created = await lab.post('/runs', { name: 'first', project: 'vision', experiment: 'lr' });
    run = created.id;
    await lab.post(`/runs/${run}/metrics:batch`, {
      points: Array.from({ length: 600 }, (_, at) => ({
        seq: at,
        name: 'train/loss',
        step: at,
        value: 1 / (at + 1),
      })),
    });
    await lab.post('/primary-metric', { name: 'train/loss' }, 'PUT');
    checkpoint = (await lab.post(`/runs/${run}/checkpoints`, { path: '/data/checkpoint-599', step: 599 })).id;
    await lab.post(`/runs/${run}/checkpoints`, { path: '/data/checkpoint-300', step: 300 });
    await lab.post(`/runs/${run}/events`, { title: 'lr dropped', severity: 'warning' });
    job = (await callTool(writer, 'submit_job', { command: ['true'], cpu_only: true })).task_id;
  });
  after(() => lab.close());

  it('are listed for a token of write scope, and without the Control group for others', async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(writer)).to.deep.equal(TOOL_NAMES);
    expect(await names(reader)).to.deep.equal(TOOL_NAMES.filter((name) => !CONTROL.includes(name)));
  });

  it('have a title, a description, both schemas and annotations', async () => {
    for (const tool of (await writer.listTools()).tools) {
      expect(tool.title, tool.name).to.be.a('string').and.not.equal('');
      expect(tool.description?.length, tool.name).to.be.above(40);
      expect(tool.outputSchema?.type, tool.name).to.equal('object');
      expect(tool.annotations?.readOnlyHint, tool.name).to.equal(!CONTROL.includes(tool.name));
      for (const [name, argument] of Object.entries(tool.inputSchema.properties ?? {}))
        expect((argument as { description?: string }).description, `${tool.name}.${name}`).to.be.a('string');
      expect(JSON.stringify(tool)).not.to.include('$id').and.not.to.include('ud800');
    }
    const cancel = (await writer.listTools()).tools.find(({ name }) => name === 'cancel_job');
    expect(cancel?.annotations?.destructiveHint).to.equal(true);
  });

  it('list_nodes and get_node_status', async () => {
    expect(await callTool(reader, 'list_nodes')).to.include({ left: 0, left_is_minimum: false });
    expect(await refusalOf(reader, 'get_node_status', { node_id: newId('node') })).to.match(
      /^error not_found: /,
    );
  });

  it('list_jobs, get_job and tail_logs', async () => {
    const { jobs } = await callTool(reader, 'list_jobs', { status: 'QUEUED' });
    expect(jobs.map(({ id }: { id: string }) => id)).to.include(job);
    const shown = await callTool(reader, 'get_job', { job_id: job });
    expect(shown).to.include({ status: 'QUEUED', poll_interval: 5000 });
    expect(shown.next_actions[0]).to.deep.include({ tool: 'get_job', args: { job_id: job } });
    expect(await callTool(reader, 'tail_logs', { job_id: job })).to.deep.include({ lines: [], errors: [] });
  });

  it('get_run_summary and query_metrics', async () => {
    const { metrics } = await callTool(reader, 'get_run_summary', { run_id: run });
    expect(metrics[0]).to.include({ name: 'train/loss', step: 599, trend: 'decreasing', is_primary: true });
    const { series } = await callTool(reader, 'query_metrics', { run_id: run, names: ['train/loss'] });
    expect(series[0]).to.deep.include({
      total: 600,
      first: { step: 0, value: 1 },
      best: { step: 599, value: 1 / 600 },
    });
    expect(series[0].steps.length).to.be.within(20, 40);
  });

  it('query_metrics joins its names with commas', async () => {
    await lab.post(`/runs/${run}/metrics:batch`, {
      points: [{ seq: 700, name: 'eval/acc', step: 5, value: 0.5 }],
    });
    const { series } = await callTool(reader, 'query_metrics', {
      run_id: run,
      names: ['train/loss', 'eval/acc'],
    });
    expect(series.map(({ name }: { name: string }) => name)).to.have.members(['train/loss', 'eval/acc']);
  });

  it('query_metrics names what has no points, and reads a name with a comma', async () => {
    const name = 'acc,top5';
    await lab.post(`/runs/${run}/metrics:batch`, { points: [{ seq: 701, name, step: 5, value: 0.7 }] });
    const answer = await callTool(reader, 'query_metrics', {
      run_id: run,
      names: [name, 'nope', 'train/loss'],
    });
    const shown = answer['series'].filter(({ total }: { total: number }) => total > 0);
    expect(shown.map((each: { name: string }) => each.name)).to.have.members([name, 'train/loss']);
    expect(answer['missing']).to.deep.equal(['nope']);
    expect(answer.next_actions[0]).to.deep.include({ tool: 'get_run_summary', args: { run_id: run } });
    const plain = await callTool(reader, 'query_metrics', { run_id: run, names: ['nope'] });
    expect(plain['missing']).to.deep.equal(['nope']);
  });

  it('a metric without a value or a direction is told with what the tools can do', async () => {
    const points = [{ seq: 702, name: 'zorp', step: 5, value: 0.7 }];
    await lab.post(`/runs/${run}/metrics:batch`, { points });
    const other = (await lab.post('/runs', {})).id;
    const asked: [Parameters<typeof callTool>[1], object, string][] = [
      ['get_best_checkpoint', { run_id: run, metric: 'nope' }, 'get_run_summary'],
      ['get_best_checkpoint', { run_id: run, metric: 'zorp' }, 'get_run_summary'],
      ['compare_runs', { ids: [run, other], metric: 'zorp' }, 'get_run_summary'],
    ];
    for (const [tool, args, look] of asked) {
      const { isError, content, _meta } = await callRaw(reader, tool, args);
      expect(isError, `${tool}: ${textOf(content)}`).to.equal(true);
      expect(textOf(content), tool).not.to.match(/svc |--metric|Take the id/);
      const error = _meta?.['svc/error'] as { next_actions: { tool: string; args: object }[] };
      expect(error.next_actions.map((action) => action.tool)).to.deep.equal([look]);
    }
  });

  it('get_job masks secrets of the command', async () => {
    const command = ['python', 'train.py', '--api-key', 'hunter2hunter2', '--lr=0.1', 'PASSWORD=hunter2'];
    const { id } = await lab.post('/jobs', { command, resources: { cpu_only: true } });
    expect((await callTool(reader, 'get_job', { job_id: id }))['command']).to.deep.equal([
      'python',
      'train.py',
      '--api-key',
      '***',
      '--lr=0.1',
      'PASSWORD=***',
    ]);
  });

  it('list_events, list_checkpoints, list_evaluations and list_metric_definitions', async () => {
    const { events } = await callTool(reader, 'list_events', { run_id: run, severity: 'warning' });
    expect(events[0]).to.include({ type: 'CUSTOM', title: 'lr dropped' });
    const { checkpoints } = await callTool(reader, 'list_checkpoints', { run_id: run });
    expect(checkpoints).to.have.length(2);
    expect(checkpoints[1]).to.include({ deleted_at: null });
    const gone = (deleted_at: number | null) =>
      lab.kernel.db('checkpoints').where({ id: checkpoint }).update({ deleted_at });
    await gone(1_000_000);
    const found = await callTool(reader, 'list_checkpoints', { run_id: run });
    expect(found.checkpoints[1]).to.include({ id: checkpoint, deleted_at: 1_000_000 });
    await gone(null);
    expect(await callTool(reader, 'list_evaluations', { run_id: run })).to.include({ left: 0 });
    const { definitions } = await callTool(reader, 'list_metric_definitions');
    expect(definitions[0]).to.include({ name: 'train/loss', is_primary: true });
  });

  it('a list without items says so, and what helps next', async () => {
    const none = (await lab.post('/runs', {})).id;
    const other = (await lab.post('/runs', {})).id;
    const bare = (await lab.post(`/runs/${other}/checkpoints`, { path: '/data/none', step: 1 })).id;
    const empty: [Parameters<typeof callTool>[1], object, string][] = [
      ['list_nodes', {}, 'nodes: none'],
      ['list_jobs', { status: 'LOST' }, 'jobs: none'],
      ['list_events', { type: 'DISK_LOW' }, 'events: none'],
      ['list_evaluations', { run_id: none }, 'evaluations: none'],
      ['list_evaluations', { checkpoint_id: bare }, 'evaluations: none'],
      ['list_checkpoints', { run_id: none }, 'checkpoints: none'],
      ['query_metrics', { run_id: none }, 'series: none'],
    ];
    for (const [tool, args, text] of empty) {
      const { content } = await callRaw(reader, tool, args);
      expect(textOf(content), tool).to.include(text);
      expect((await callTool(reader, tool, args)).next_actions, tool).not.to.deep.equal([]);
    }
  });

  it('a list goes on behind what it has shown, by its next action', async () => {
    const first = await callTool(reader, 'list_checkpoints', { run_id: run, limit: 1 });
    expect(first).to.include({ left: 1, left_is_minimum: true });
    const { tool, args } = first.next_actions[0]!;
    const second = await callTool(reader, tool, args);
    expect(second.checkpoints[0].id).not.to.equal(first.checkpoints[0].id);
  });

  it('diagnose_run, compare_runs, compare_checkpoints and get_best_checkpoint', async () => {
    const other = (await lab.post('/runs', { project: 'vision', experiment: 'lr' })).id;
    expect(await callTool(reader, 'diagnose_run', { run_id: run })).to.include({ status: 'RUNNING' });
    const runs = await callTool(reader, 'compare_runs', { ids: [other, run], metric: 'train/loss' });
    expect(runs).to.include({ best_run_id: run, metric: 'train/loss' });
    const { checkpoints } = await callTool(reader, 'list_checkpoints', { run_id: run });
    const ids = checkpoints.map(({ id }: { id: string }) => id);
    expect(await callTool(reader, 'compare_checkpoints', { ids })).to.include({
      best_checkpoint_id: checkpoint,
    });
    const best = await callTool(reader, 'get_best_checkpoint', { run_id: run });
    expect(best).to.include({ checkpoint_id: checkpoint, source: 'training_fallback' });
  });

  it('submit_job with one idempotency key submits once', async () => {
    const args = { command: ['true'], cpu_only: true, project: 'vision', idempotency_key: 'k1' };
    const first = await callTool(writer, 'submit_job', args);
    expect(first).to.include({ state: 'working', status: 'QUEUED', poll_interval: 5000 });
    expect(first.ttl).to.be.above(0);
    expect((await callTool(writer, 'submit_job', args)).task_id).to.equal(first.task_id);
    const refused = await refusalOf(writer, 'submit_job', { ...args, command: ['false'] });
    expect(refused).to.match(/^error conflict: This idempotency_key was used with other arguments/);
    expect(refused).not.to.include('Look at the record').and.not.to.include('Idempotency-Key');
  });

  it('submit_job hands the runner on with what it is told', async () => {
    const args = { command: ['true'], cpu_only: true, runner: 'docker', image: 'train:1' };
    expect(await refusalOf(writer, 'submit_job', args)).to.include('there is no runner "docker"');
  });

  it('evaluate_checkpoint answers with a handle, and the next evaluation is like it', async () => {
    const evaluation = await callTool(writer, 'evaluate_checkpoint', {
      checkpoint_id: checkpoint,
      command: ['python', 'eval.py'],
      suite: 'heldout',
    });
    expect(evaluation).to.include({ state: 'working', status: 'QUEUED', checkpoint_id: checkpoint });
    const later = (await lab.post('/runs', { project: 'vision' })).id;
    const open = (await lab.post(`/runs/${later}/checkpoints`, { path: '/data/c', step: 1 })).id;
    const { next_actions } = await callTool(reader, 'list_checkpoints', { run_id: later });
    expect(next_actions[0]).to.deep.include({
      tool: 'evaluate_checkpoint',
      args: { checkpoint_id: open, command: ['python', 'eval.py'], suite: 'heldout' },
    });
  });

  it('cancel_job needs confirm=true, and retry_job queues again', async () => {
    const { task_id } = await callTool(writer, 'submit_job', { command: ['true'], cpu_only: true });
    const refused = await refusalOf(writer, 'cancel_job', { job_id: task_id, confirm: false });
    expect(refused).to.match(/^error validation_error: cancel_job needs confirm=true/);
    expect(await callTool(writer, 'get_job', { job_id: task_id })).to.include({ status: 'QUEUED' });
    const cancelled = await callTool(writer, 'cancel_job', { job_id: task_id, confirm: true });
    expect(cancelled).to.include({ state: 'cancelled', status: 'CANCELLED', task_id });
    expect(await callTool(writer, 'retry_job', { job_id: task_id })).to.include({
      state: 'working',
      attempt: 2,
    });
  });

  it('explain_failure names one of a run and a job', async () => {
    expect(await refusalOf(reader, 'explain_failure')).to.include('name exactly one of run_id and job_id');
    expect(await refusalOf(reader, 'explain_failure', { job_id: job, run_id: run })).to.include(
      'exactly one',
    );
  });
});
