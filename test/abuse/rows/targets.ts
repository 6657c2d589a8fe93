import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { Row } from '../row.js';

const ROUNDS = 40;
const AT_ONCE = 8;
const POINTS = 500;
const FLOOD = Buffer.alloc(64 * 1024, 'x');

/** What a target does once it has a request. */
const BEHAVIOURS: Readonly<Record<string, (socket: Socket) => void>> = {
  hangs: () => undefined,
  'byte-by-byte'(socket) {
    const answer = 'HTTP/1.1 200 OK\r\n'.padEnd(10_000, 'X-More: x\r\n');
    let sent = 0;
    const timer = setInterval(() => socket.write(answer[sent++ % answer.length]!), 20);
    socket.on('close', () => clearInterval(timer));
  },
  'endless-body'(socket) {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
    const flood = (): void => {
      while (socket.writable && socket.write(FLOOD));
    };
    socket.on('drain', flood);
    flood();
  },
};

/** Targets of push that behave badly, each in both ways of delivery. */
export interface BadTargets {
  /** The call of the plugin for svc.config.ts. */
  readonly call: string;
  close(): Promise<void>;
}

export async function openBadTargets(): Promise<BadTargets> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const targets: object[] = [];
  for (const [name, behave] of Object.entries(BEHAVIOURS)) {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      socket.once('data', () => behave(socket));
      socket.resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (const delivery of ['best-effort', 'at-least-once'])
      targets.push({ name: `${name}-${delivery}`, url, delivery });
  }
  return {
    call: `pushWebhook({ targets: ${JSON.stringify(targets)} })`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** The server of the lab has the bad targets in its configuration. */
export const TARGETS_ROW: Row = {
  input: 'targets of push that hang, answer byte by byte, or answer without an end',
  who: 'whoever has a target',
  limit: '5 s for an answer, 4 at a time; 100 events that wait, or 1 000 deliveries; not reached',
  others: 'nothing',
  async send({ server, sender, tokens, ids }) {
    const run = `/api/v1/runs/${ids['run_id']}`;
    const post = (path: string, body: object) =>
      sender.send({ method: 'POST', path, token: tokens.write, body: JSON.stringify(body) });
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = Date.now() * 1000;
      const points = Array.from({ length: POINTS }, (_, at) => ({
        seq: first + at,
        name: 'loss',
        step: round * POINTS + at,
        value: 1,
      }));
      const answers = await Promise.all([
        post(`${run}/metrics:batch`, { points }),
        ...Array.from({ length: AT_ONCE }, (_, at) => post(`${run}/events`, { title: `${round} ${at}` })),
      ]);
      const [ingested, ...events] = answers.map(({ status }) => status);
      expect(ingested).to.equal(200);
      expect(events).to.deep.equal(Array(AT_ONCE).fill(201));
    }
    const list = (target: string) =>
      server.client.call(routes.listDeliveries, {
        query: { target: `${target}-at-least-once`, limit: 1000 },
      });
    // An answer of 200 counts, whatever its body is; the others have failed at their first tries.
    await until(async () => {
      const { items } = await list('endless-body');
      return items.length >= ROUNDS * AT_ONCE && items.every(({ status }) => status === 'DELIVERED');
    });
    for (const target of ['hangs', 'byte-by-byte'])
      await until(async () =>
        (await list(target)).items.some(({ last_error }) => last_error === 'no answer within 5 s'),
      );
  },
};
