import { expect } from 'chai';
import { request } from 'node:http';
import { newId } from '@svc/contract';
import { Lab, callRaw, callTool, connectUnlisted, refusalOf, startAdapterFor } from './support/lab.js';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('the door of the MCP adapter', function () {
  this.timeout(60_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.open();
  });
  after(() => lab.close());

  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${lab.adapter.url}/mcp`, {
      method: 'POST',
      body,
      headers: { ...HEADERS, authorization: `Bearer ${lab.tokens['read']}`, ...headers },
    });
  const messageOf = async (response: Response) =>
    ((await response.json()) as { error: { message: string } }).error.message;

  it('needs no handshake: each request stands alone', async () => {
    const response = await post(JSON.stringify(LIST));
    expect([response.status, response.headers.get('mcp-session-id')]).to.deep.equal([200, null]);
    const { result } = (await response.json()) as { result: { tools: unknown[] } };
    expect(result.tools).to.have.length(16);
  });

  it('asks for a token', async () => {
    const response = await post(JSON.stringify(LIST), { authorization: '' });
    expect([response.status, response.headers.get('www-authenticate')]).to.deep.equal([
      401,
      'Bearer realm="svc"',
    ]);
    expect(await messageOf(response)).to.include('svc token create');
  });

  it('refuses foreign hosts and foreign origins', async () => {
    const foreign = await post(JSON.stringify(LIST), { origin: 'https://evil.example' });
    expect(foreign.status).to.equal(403);
    expect(await messageOf(foreign)).to.match(
      /"https:\/\/evil\.example" is not allowed; .*svc mcp --allowed-origin/,
    );
    const { port } = new URL(lab.adapter.url);
    const own = await post(JSON.stringify(LIST), { origin: `http://127.0.0.1:${port}` });
    expect([own.status, (await own.text()).length > 0]).to.deep.equal([200, true]);
    expect(await statusWithHost(lab, 'rebound.example')).to.equal(403);
    expect(await statusWithHost(lab, 'localhost')).to.equal(200);
  });

  it('lets an allowed origin in', async () => {
    const adapter = await startAdapterFor(lab.kernel.url, { allowedOrigins: ['https://agent.example'] });
    const headers = {
      ...HEADERS,
      authorization: `Bearer ${lab.tokens['read']}`,
      origin: 'https://agent.example',
    };
    const asked = await fetch(`${adapter.url}/mcp`, { method: 'OPTIONS', headers });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).to.deep.equal([
      204,
      'https://agent.example',
    ]);
    const response = await fetch(`${adapter.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(LIST),
    });
    expect([response.status, (await response.text()).length > 0]).to.deep.equal([200, true]);
    await adapter.close(1_000);
  });

  it('bounds the body, and refuses what is not JSON-RPC', async () => {
    const large = await post(JSON.stringify({ ...LIST, params: { x: 'x'.repeat(1024 * 1024) } }));
    expect(large.status).to.equal(413);
    expect((await post('{"jsonrpc":')).status).to.equal(400);
    expect((await post('{"hello": 1}')).status).to.equal(400);
    expect((await post(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)).status).to.equal(422);
  });

  it('takes POST alone, at one path', async () => {
    const get = await fetch(`${lab.adapter.url}/mcp`, { headers: { accept: 'text/event-stream' } });
    expect([get.status, get.headers.get('allow')]).to.deep.equal([405, 'POST']);
    expect((await fetch(`${lab.adapter.url}/sse`)).status).to.equal(404);
  });

  it('says how it is, and how the server is, without a token', async () => {
    const response = await fetch(`${lab.adapter.url}/health`);
    expect(await response.json()).to.deep.include({ status: 'ok', server: 'ok' });
  });

  it('has a token of its own on loopback alone', async () => {
    const shared = await startAdapterFor(lab.kernel.url, { token: lab.tokens['read']! });
    const response = await fetch(`${shared.url}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify(LIST),
    });
    expect([response.status, (await response.text()).length > 0]).to.deep.equal([200, true]);
    await shared.close(1_000);
    const refused = await startAdapterFor(lab.kernel.url, { token: 'svc_read_x', host: '0.0.0.0' }).catch(
      String,
    );
    expect(refused).to.include('listens on loopback alone');
  });
});

describe('scopes', function () {
  this.timeout(60_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.open();
  });
  after(() => lab.close());

  const CONTROL: [string, object][] = [
    ['submit_job', { command: ['true'] }],
    ['evaluate_checkpoint', { checkpoint_id: newId('checkpoint'), command: ['true'] }],
    ['cancel_job', { job_id: newId('job'), confirm: true }],
    ['retry_job', { job_id: newId('job') }],
  ];

  it('a read token gets the write-scope error from each Control tool', async () => {
    const client = await lab.connect('read');
    for (const [name, args] of CONTROL)
      expect(await refusalOf(client, name, args)).to.match(
        /^error forbidden: a write-scope token is required/,
      );
  });

  it('a read token is told of the scope also when the arguments are wrong', async () => {
    const client = await lab.connect('read');
    const wrong = [
      ...CONTROL.map(([name]) => [name, {}] as const),
      ['cancel_job', { job_id: 'x', confirm: false }],
    ];
    for (const [name, args] of wrong as [string, object][])
      expect(await refusalOf(client, name, args)).to.match(
        /^error forbidden: a write-scope token is required/,
      );
  });

  it('a read token that cancels a task is told of the write scope', async () => {
    const { task_id } = await callTool(await lab.connect('write'), 'submit_job', { command: ['true'] });
    const client = await lab.connect('read');
    const refused = await client.experimental.tasks.cancelTask(task_id).catch(String);
    expect(refused).to.include('a write-scope token is required').and.not.to.include('read or write');
  });

  it('tokens of sdk and agent scope read nothing, and are shown no tools', async () => {
    for (const scope of ['sdk', 'agent'] as const) {
      const client = await connectUnlisted(lab.adapter.url, lab.tokens[scope]);
      expect(await client.listTools().catch(String)).to.include('need a token of read or write scope');
      expect(await refusalOf(client, 'list_jobs')).to.match(
        /^error forbidden: .*read or write scope is required/,
      );
      expect(await refusalOf(client, 'submit_job', { command: ['true'] })).to.include('write-scope token');
      await client.close();
    }
  });
});

describe('wrong calls', function () {
  this.timeout(60_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.open();
  });
  after(() => lab.close());

  it('an unknown tool is an error that names one like it', async () => {
    const client = await lab.connect('write');
    const refused = await callRaw(client, 'submit_jobs', {}).catch(String);
    expect(refused).to.include('there is no tool "submit_jobs"; did you mean "submit_job"?');
  });

  const WRONG: [string, object, RegExp][] = [
    ['get_job', {}, /job_id/],
    ['get_job', { job_id: 'x', more: 1 }, /more/],
    ['get_job', { job_id: 5 }, /job_id/],
    ['get_job', { id: 'x' }, /id/],
    ['submit_job', { command: 'python train.py' }, /command/],
    ['submit_job', { command: [] }, /command/],
    ['submit_job', { command: ['true'], gpus: '2' }, /gpus/],
    ['submit_job', { command: ['true'], gpus: 2, cpu_only: true }, /cpu_only|gpu/],
    ['submit_job', { command: ['true'], working_dir: 'relative' }, /working_dir/],
    ['cancel_job', { job_id: 'x' }, /confirm/],
    ['cancel_job', { job_id: 'x', confirm: 'yes' }, /confirm/],
    ['compare_runs', { ids: ['one'] }, /ids/],
    ['list_jobs', { status: 'DONE' }, /status/],
    ['list_jobs', { limit: 100_000 }, /limit/],
    ['query_metrics', { run_id: 'x', names: 'loss' }, /names/],
    ['get_best_checkpoint', {}, /run_id|experiment_id/],
  ];
  for (const [name, args, named] of WRONG) {
    it(`${name} ${JSON.stringify(args)} says what is wrong`, async () => {
      const refused = await refusalOf(await lab.connect('write'), name, args);
      expect(refused)
        .to.match(/^error validation_error: /)
        .and.to.match(named);
    });
  }

  it('an id of another kind is not found, and the error says what to do', async () => {
    const client = await lab.connect('write');
    const run_id = (await lab.post('/runs', {})).id;
    for (const [name, args] of [
      ['get_job', { job_id: run_id }],
      ['get_run_summary', { run_id: newId('job') }],
      ['list_checkpoints', { run_id: 'nonsense' }],
      ['evaluate_checkpoint', { checkpoint_id: run_id, command: ['true'] }],
      ['explain_failure', { job_id: run_id }],
    ] as const)
      expect(await refusalOf(client, name, args)).to.match(/^error not_found: .*list tool/);
  });
});

/** fetch sets the header Host itself. */
function statusWithHost({ adapter, tokens }: Lab, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, host, authorization: `Bearer ${tokens['read']}` };
    const sent = request(`${adapter.url}/mcp`, { method: 'POST', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(LIST));
  });
}
