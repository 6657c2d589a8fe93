import { createTestKernel, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callRaw, connectUnlisted, refusalOf, startAdapterFor, textOf } from './support/lab.js';

describe('a server that is not there', function () {
  this.timeout(60_000);

  it('is unavailable, and is asked again with the next call', async () => {
    const first = await createTestKernel({ plugins: [] });
    const port = Number(new URL(first.url).port);
    const adapter = await startAdapterFor(first.url);
    await first.close();
    const away = await connectUnlisted(adapter.url);
    expect(await refusalOf(away, 'list_nodes')).to.match(/^error unavailable: .*make the same call again/);
    expect(await (await fetch(`${adapter.url}/health`)).json()).to.deep.include({
      status: 'ok',
      server: 'unavailable',
    });
    const second = await createTestKernel({ plugins: [], port });
    expect(textOf((await callRaw(away, 'list_nodes')).content)).not.to.include('unavailable');
    await away.close();
    await adapter.close(1_000);
    await second.close();
  });

  it('that does not answer is given up after the time-out', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const adapter = await startAdapterFor(`http://127.0.0.1:${port}`, {}, { callMs: 200 });
    const client = await connectUnlisted(adapter.url);
    expect(await refusalOf(client, 'list_jobs')).to.match(/^error unavailable: /);
    await client.close();
    await adapter.close(1_000);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('that answers slowly is waited for, also by an adapter that is told to stop', async () => {
    const asked: ServerResponse[] = [];
    const slow = createServer(({ url }, response) => {
      if (url?.includes('/jobs')) asked.push(response);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => slow.once('listening', resolve));
    const { port } = slow.address() as AddressInfo;
    const adapter = await startAdapterFor(`http://127.0.0.1:${port}`);
    const client = await connectUnlisted(adapter.url);
    const answer = callRaw(client, 'list_jobs');
    await until(() => asked.length === 1);
    const stopped = adapter.close(10_000);
    const refused = await fetch(`${adapter.url}/health`).catch(() => 'refused');
    expect(refused).to.equal('refused');
    asked[0]!.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    asked[0]!.end('{"items": []}');
    expect((await answer).structuredContent).to.deep.include({ jobs: [], left: 0 });
    await stopped;
    await client.close();
    slow.closeAllConnections();
    await new Promise((resolve) => slow.close(resolve));
  });

  it('that never answers does not keep an adapter from its end, once the grace is over', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const adapter = await startAdapterFor(`http://127.0.0.1:${port}`);
    const client = await connectUnlisted(adapter.url);
    const answer = callRaw(client, 'list_jobs').catch(String);
    await adapter.close(100);
    expect(await answer).to.be.a('string');
    await client.close();
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });
});
