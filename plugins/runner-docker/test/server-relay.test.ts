import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import type Docker from 'dockerode';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog } from '@svc/agent';
import { Relays } from '../src/agent/server-relay.js';

/** As a bridge of the engine: its host is this one, and so are its containers. */
const LOOPBACK = { Driver: 'bridge', IPAM: { Config: [{ Gateway: '127.0.0.1', Subnet: '127.0.0.0/8' }] } };

describe('the relay for containers', () => {
  let dir: string;
  let server: http.Server;
  let relays: Relays;
  let url: URL;
  let seen: { line: string; body: string }[];

  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-relay-'));
    seen = [];
    server = http.createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        seen.push({ line: `${request.method} ${request.url}`, body });
        response.end(`answer to ${request.url}`);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = { getNetwork: () => ({ inspect: async () => LOOPBACK }) } as unknown as Docker;
    relays = new Relays({ client: async () => client, directory: dir, log: createAgentLog({ write() {} }) });
    const { port } = server.address() as AddressInfo;
    url = new URL(await relays.addressOn('bridge', `http://127.0.0.1:${port}`));
  });
  afterEach(async () => {
    await relays.close();
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true });
  });

  const connect = async () => {
    const socket = net.connect(Number(url.port), url.hostname);
    await once(socket, 'connect');
    return socket;
  };
  const get = async (place: string) => (await fetch(`${url.href}${place}`)).text();

  it('passes on what a body says as a body, for methods that have none as a rule too', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
      const hidden = 'POST /stolen HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc';
      const socket = await connect();
      const head = `${method} ${url.pathname}/outer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
      socket.write(`${head}${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`);
      await until(() => seen.length === 1, method);
      expect(await get('/next')).to.equal('answer to /next');
      socket.destroy();
      expect(seen).to.deep.equal([
        { line: `${method} /outer`, body: hidden },
        { line: 'GET /next', body: '' },
      ]);
      seen = [];
    }
  });

  it('has room for others when one container holds all connections that it gets', async () => {
    const held = await Promise.all(Array.from({ length: 64 }, connect));
    const other = http.get(`${url.href}/other`, { localAddress: '127.0.0.2' });
    const [answer] = (await once(other, 'response')) as [http.IncomingMessage];
    answer.resume();
    expect(answer.statusCode).to.equal(200);
    const refused = await get('/more').catch(() => 'refused');
    expect(refused).to.equal('refused');
    for (const socket of held) socket.destroy();
    expect(await until(() => get('/again').catch(() => null), 'room again')).to.equal('answer to /again');
  });
});
