import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { NextActionRecord, ToolName } from '@svc/contract';
import { expect } from 'chai';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Lab, callRaw, callTool, connect, startAdapterFor, textOf } from './support/lab.js';
import type { Listening } from '../src/adapter/index.js';

/** The server does the work, and its answer is lost on the way. */
describe('a Control tool without an answer', function () {
  this.timeout(60_000);
  let lab: Lab;
  let way: Server;
  let adapter: Listening;
  let client: Client;
  let isLosing = false;

  before(async () => {
    lab = await Lab.open();
    way = createServer((asked, response) => {
      const { method, headers, url } = asked;
      const on = request(`${lab.kernel.url}${url}`, { method, headers }, (answer) => {
        if (isLosing && method === 'POST') return void answer.resume();
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      asked.pipe(on);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => way.once('listening', resolve));
    const url = `http://127.0.0.1:${(way.address() as AddressInfo).port}`;
    adapter = await startAdapterFor(url, {}, { callMs: 1_000 });
    client = await connect(adapter.url, lab.tokens['write']!);
  });
  after(async () => {
    await client.close();
    await adapter.close(1_000);
    way.closeAllConnections();
    way.close();
    await lab.close();
  });

  const lose = async (name: ToolName, args: object) => {
    isLosing = true;
    const { content, _meta } = await callRaw(client, name, args);
    isLosing = false;
    const error = _meta?.['svc/error'] as { code: string; next_actions: NextActionRecord[] };
    expect(error.code).to.equal('unavailable');
    expect(textOf(content)).to.include('may have been done').and.not.to.include('make the same call again');
    return error.next_actions;
  };

  it('submit_job is repeated by its next action, and the job is there once', async () => {
    const [again, look] = await lose('submit_job', { command: ['true', 'once'], cpu_only: true });
    expect([again?.tool, look?.tool]).to.deep.equal(['submit_job', 'list_jobs']);
    const { job_id } = await callTool(client, again!.tool, again!.args);
    const { jobs } = await callTool(client, look!.tool, look!.args);
    expect(jobs.map(({ id }: { id: string }) => id)).to.deep.equal([job_id]);
  });

  it('keeps the key of the caller', async () => {
    const args = { command: ['true'], cpu_only: true, idempotency_key: 'mine' };
    const [again] = await lose('submit_job', args);
    expect(again?.args).to.deep.equal(args);
  });

  it('cancel_job and retry_job look at the job first', async () => {
    const { job_id } = await callTool(client, 'submit_job', { command: ['true'], cpu_only: true });
    const [look] = await lose('cancel_job', { job_id, confirm: true });
    expect(await callTool(client, look!.tool, look!.args)).to.include({ id: job_id, status: 'CANCELLED' });
    const [after] = await lose('retry_job', { job_id });
    expect(await callTool(client, after!.tool, after!.args)).to.include({ status: 'QUEUED', attempt: 2 });
  });
});
