import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { TOOL_INPUTS, TOOL_NAMES, routes, type Job, type JobSubmit, type ToolName } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { compileCheck } from '@svc/validation';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { mcpCalls, type McpCall } from '../support/mcp-calls.js';
import { McpClient, createToken, startMcp, textOf } from '../support/mcp-client.js';
import { ROOT, startProgram } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const WITH_GPU = ['--virtual-gpus', '1'];
const PYTHON_CLIENT = `${ROOT}test/fixtures/mcp/client.py`;

/** With the schemas as clients get them. `compileCheck` is ajv. */
const mistakesIn = (schema: object, value: unknown) =>
  compileCheck(schema as Parameters<typeof compileCheck>[0], 'leave')(value);

describe('each of the 20 tools, with a real server and a real agent', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let url: string;
  let token: string;
  let lab: McpClient;
  let listed: ReadonlyMap<string, Tool>;
  let calls: Record<ToolName, McpCall>;

  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server, WITH_GPU);
    url = await startMcp(workplace, { SVC_URL: server.url });
    token = await createToken(server, 'write');
    lab = await McpClient.connect(url, token);
    listed = new Map((await lab.client.listTools()).tools.map((tool) => [tool.name, tool]));
    calls = mcpCalls(await prepare());
  });
  after(async () => {
    await lab?.close();
    await workplace.close();
  });

  const run = (job: Partial<JobSubmit>, isThere: (job: Job) => boolean) =>
    submit(server.client, { command: ['true'], resources: { cpu_only: true }, ...job }).then(({ id }) =>
      untilJob(server.client, id, isThere),
    );

  /** A node that has reported, jobs that have ended, failed and wait, two runs with points, two checkpoints. */
  async function prepare(): Promise<Parameters<typeof mcpCalls>[0]> {
    const { client } = server;
    const done = ({ status }: Job) => status === 'SUCCEEDED';
    const first = await run({ command: ['sh', '-c', 'echo trained'] }, done);
    const second = await run({}, done);
    const failed = await run(
      { command: ['sh', '-c', 'echo "MemoryError" >&2; exit 1'] },
      ({ status }) => status === 'FAILED',
    );
    const waiting = await run({ resources: { gpu: 8 } }, ({ pending_reason }) => pending_reason !== null);
    const runs = [first.run_id!, second.run_id!] as const;
    const points = [0, 1, 2].map((step) => ({ seq: step, name: 'train/loss', step, value: 3 - step }));
    for (const run_id of runs)
      await client.call(routes.writePoints, { params: { run_id }, body: { points } });
    await client.call(routes.setPrimaryMetric, { body: { name: 'train/loss' } });
    const save = async (step: number) => {
      const body = { path: `/data/checkpoint-${step}`, step };
      return (await client.call(routes.createCheckpoint, { params: { run_id: runs[0] }, body })).id;
    };
    const checkpoints = [await save(1), await save(2)] as const;
    const { items } = await client.call(routes.listNodes, {});
    const node_id = items[0]!.id;
    const params = { node_id };
    await until(
      async () =>
        Object.keys((await client.call(routes.getNodeSnapshot, { params })).metrics).includes('cpu.util'),
      { timeoutMs: 30_000, everyMs: 200 },
    );
    return {
      node: node_id,
      job: first.id,
      failedJob: failed.id,
      waitingJob: waiting.id,
      run: runs[0],
      otherRun: runs[1],
      checkpoints,
    };
  }

  for (const name of TOOL_NAMES) {
    it(`${name} answers, as its schemas say`, async () => {
      const { inputSchema, outputSchema } = listed.get(name)!;
      const { args } = calls[name];
      expect(mistakesIn(inputSchema, args)).to.deep.equal([]);
      expect(mistakesIn(inputSchema, { ...args, foreign: 1 })).not.to.deep.equal([]);
      const { isError, content, structuredContent } = await lab.callRaw(name, args);
      expect(isError, textOf(content)).not.to.equal(true);
      expect(mistakesIn(outputSchema!, structuredContent)).to.deep.equal([]);
      const { next_actions } = structuredContent as { next_actions: { tool: ToolName; args: object }[] };
      for (const { tool, args: next } of next_actions)
        expect(compileCheck(TOOL_INPUTS[tool], 'leave')(next), tool).to.deep.equal([]);
    });

    it(`${name} says what is wrong, and what to do`, async () => {
      const { wrong, code } = calls[name];
      const { isError, content, structuredContent, _meta } = await lab.callRaw(name, wrong);
      expect([isError, structuredContent]).to.deep.equal([true, undefined]);
      expect(textOf(content)).to.match(new RegExp(`^error ${code}: .{20}`));
      expect(_meta?.['svc/error']).to.include({ code });
    });
  }

  it('get_node_status shows the GPU slots, the load and the memory of the node', async () => {
    const status = await lab.call('get_node_status', calls.get_node_status.args);
    expect(status).to.include({ status: 'ONLINE', gpus: 1, free_gpus: 1 });
    expect(status['slots']).to.have.length(1);
    expect(status['metrics']).to.include.all.keys('cpu.util', 'ram.used_mb', 'ram.total_mb');
    expect(status['processes']).to.be.an('array');
  });

  it('answer the official Python client as well, which checks each answer against its schema', async function () {
    const python = requireEngine(this, 'mcp');
    calls = mcpCalls(await prepare());
    const all = TOOL_NAMES.flatMap((name) => [
      [name, calls[name].args],
      [name, calls[name].wrong],
    ]);
    const program = startProgram(python, [PYTHON_CLIENT, url, JSON.stringify(all)], {
      PATH: process.env['PATH'],
      SVC_TOKEN: token,
    });
    const { status, stdout, stderr } = await program.ended;
    expect(status, stderr).to.equal(0);
    const { tools, version, answers } = JSON.parse(stdout);
    expect([tools, version]).to.deep.equal([20, '2025-11-25']);
    const told = answers.map(([name, isError]: [string, boolean]) => [name, isError]);
    expect(told).to.deep.equal(TOOL_NAMES.flatMap((name) => [false, true].map((isError) => [name, isError])));
  });
});
