import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { until } from '@svc/kernel/testing';
import { createCuttingProxy, type CutMode, type CuttingProxy } from './cutting-proxy.js';

const MODES: CutMode[] = ['refuse', 'reset', 'swallow', 'hold', 'delay'];
/** A side that ends is seen, and answered, over a few turns of the event loop: the cut comes in each of them. */
const TURNS = 8;

describe('cutting proxy', () => {
  let server: net.Server;
  let proxy: CuttingProxy;
  let served: Socket[];

  beforeEach(async () => {
    served = [];
    // It does not end a connection because its client does.
    server = net.createServer({ allowHalfOpen: true }, (socket) => {
      served.push(socket);
      socket.on('error', () => socket.destroy());
      socket.on('data', (bytes: Buffer) => socket.write(bytes));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy = await createCuttingProxy((server.address() as AddressInfo).port);
  });

  afterEach(async () => {
    await proxy.close();
    for (const socket of served) socket.destroy();
    server.close();
    await until(() => openSockets() === 0);
  });

  for (const mode of MODES) {
    it(`leaves no socket behind when a connection ends while it is cut (${mode})`, async () => {
      for (let turns = 0; turns < TURNS; turns += 1) {
        const client = await connected();
        client.end();
        for (let turn = 0; turn < turns; turn += 1) await nextTurn();
        proxy.cut(mode, 'all');
        await nextTurn();
        proxy.heal();
        client.destroy();
      }
      await proxy.close();
      for (const socket of served) socket.destroy();
      await until(() => openSockets() === 0);
    });
  }

  it('leaves no socket behind when one side ends and the other is reset at once', async () => {
    for (let turns = 0; turns < TURNS; turns += 1) {
      const client = await connected();
      client.end();
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      served.at(-1)?.resetAndDestroy();
      await until(() => client.closed);
    }
  });

  it('leaves no socket behind though the server does not answer the end of its client', async () => {
    const client = await connected();
    client.end();
    await until(() => served[0]?.readableEnded && client.closed);
    await proxy.close();
    // The one that is left is the server's own.
    await until(() => openSockets() === 1);
  });

  it('closes though a connection has sent nothing yet', async () => {
    const client = net.connect(portOf(proxy), '127.0.0.1');
    client.on('error', () => client.destroy());
    await once(client, 'connect');
    await proxy.close();
    await until(() => client.closed);
  });

  /** A connection over which a byte has gone there and back. */
  async function connected(): Promise<Socket> {
    const client = net.connect(portOf(proxy), '127.0.0.1');
    client.on('error', () => client.destroy());
    client.write('x');
    await once(client, 'data');
    return client;
  }
});

function portOf(proxy: CuttingProxy): number {
  return Number(new URL(proxy.url).port);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
