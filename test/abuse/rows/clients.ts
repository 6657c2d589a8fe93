import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { head, withClients } from '../raw-client.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';
import { faultOf } from '../send.js';

const SLOW_FOR_MS = 4_000;
const IDLE = 1_000;
const STREAMS = 200;
const WAITING_READERS = 50;
/** More than 500 in memory and what the system buffers for a connection. */
const UNREAD_EVENTS = 650;
const AT_ONCE = 8;
const CLOSED_WITHIN_MS = 5_000;

/** The server still does what it is asked, while the slow ones are there. */
async function expectService({ server, ids }: Lab): Promise<void> {
  const params = { run_id: ids['run_id']! };
  await server.client.call(routes.createEvent, { params, body: { title: 'still there' } });
  expect((await server.client.call(routes.listEvents, { query: { limit: 1 } })).items).to.have.length(1);
}

/** The server has hung up: what it had sent before can still be read. */
async function expectClosed(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.resume();
  await until(() => sockets.every(({ destroyed, readableEnded }) => destroyed || readableEnded), {
    timeoutMs: CLOSED_WITHIN_MS,
  });
}

export const CLIENT_ROWS: readonly Row[] = [
  {
    input: '200 clients that send a head byte by byte',
    who: 'anyone',
    limit: '20 s for a head; not reached',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const sockets = await clients.open(200, 'GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-A: ');
        for (let ms = 0; ms < SLOW_FOR_MS; ms += 200) {
          for (const socket of sockets) socket.write('x');
          await pause(200);
        }
        await expectService(lab);
      }),
  },
  {
    input: '200 clients that send a body byte by byte',
    who: 'write',
    limit: '60 s without a byte, not reached; one that flows may take any time, other than a snapshot',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const more = ['Content-Type: application/json', 'Content-Length: 1048576'];
        const sockets = await clients.open(200, head('POST', '/api/v1/jobs', lab.tokens.write, more));
        for (let ms = 0; ms < SLOW_FOR_MS; ms += 200) {
          for (const socket of sockets) socket.write('[');
          await pause(200);
        }
        await expectService(lab);
      }),
  },
  {
    input: '20 bodies in chunks that never end',
    who: 'write',
    limit: 'the limit of the route, then 413',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const more = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
        const sockets = await clients.open(20, head('POST', '/api/v1/jobs', lab.tokens.write, more));
        const answers = sockets.map(() => '');
        sockets.forEach((socket, at) => socket.on('data', (piece) => (answers[at] += piece.toString())));
        const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
        for (let sent = 0; sent < 40; sent++) {
          for (const socket of sockets) socket.write(chunk);
          await pause(20);
        }
        await pause(500);
        for (const answer of answers) expect(answer).to.match(/^HTTP\/1.1 413 /);
      }),
  },
  {
    input: '1 000 idle connections and 200 idle event streams',
    who: 'anyone; read, write',
    limit: '20 s for a head, 1 500 streams a token; not reached',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        await clients.open(IDLE);
        await clients.open(STREAMS, head('GET', '/api/v1/events/stream', lab.tokens.read));
        for (let events = 0; events < 20; events++) await expectService(lab);
      }),
  },
  {
    input: '50 readers that never read a large answer',
    who: 'any token',
    limit: 'an answer of which nothing is read for 120 s; not reached',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const request = head('GET', '/api/v1/openapi.json', lab.tokens.read);
        const sockets = await clients.open(WAITING_READERS);
        for (const socket of sockets) socket.pause().write(request.repeat(50));
        await pause(SLOW_FOR_MS);
        await expectService(lab);
      }),
  },
  {
    input: '20 event streams that are never read',
    who: 'read, write',
    limit: 'one event on its way and 500 in memory; 120 s in which nothing is read, not reached',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const sockets = await clients.open(20);
        for (const socket of sockets)
          socket.pause().write(head('GET', '/api/v1/events/stream', lab.tokens.read));
        const params = { run_id: lab.ids['run_id']! };
        const body = { title: 'large', message: 'x'.repeat(20_000), data: { text: 'y'.repeat(40_000) } };
        const send = () => lab.server.client.call(routes.createEvent, { params, body });
        for (let sent = 0; sent < UNREAD_EVENTS; sent += AT_ONCE)
          await Promise.all(Array.from({ length: AT_ONCE }, send));
        await expectService(lab);
      }),
  },
  {
    input: '500 wrong sign-in codes',
    who: 'anyone',
    limit: '10 wrong ones a minute and address, then 429',
    others: 'sign-in by code from that address waits; tokens work',
    send: async (lab) => {
      const path = '/api/v1/auth/sign-in-links:redeem';
      const one = (at: number) =>
        lab.sender.send({ method: 'POST', path, body: JSON.stringify({ code: `no-such-code-${at}` }) });
      const answers = await Promise.all(Array.from({ length: 500 }, (_, at) => one(at)));
      expect(answers.map(faultOf).filter((fault) => fault !== null)).to.deep.equal([]);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).to.be.at.least(490);
      for (const { headers } of refused) expect(Number(headers['retry-after'])).to.be.within(1, 3600);
      await expectService(lab);
    },
  },
  {
    input: 'requests that are no HTTP',
    who: 'anyone',
    limit: 'refused, and the connection is closed',
    others: 'nothing',
    send: (lab) =>
      withClients(lab.server.url, async (clients) => {
        const words = [
          'GET\r\n\r\n',
          '\x16\x03\x01\x02\x00'.repeat(100),
          'x'.repeat(100_000),
          `GET /${'x'.repeat(200_000)} HTTP/1.1\r\n\r\n`,
          `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(20_000)}\r\n`,
          'POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
          'POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
          'GET /api/v1/health HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
        ];
        for (const word of words) {
          const [socket] = await clients.open(1, word);
          let answer = '';
          socket!.on('data', (piece) => (answer += piece.toString()));
          await expectClosed([socket!]);
          if (answer !== '') expect(answer, word.slice(0, 60)).to.match(/^HTTP\/1.1 4\d\d /);
        }
        await expectService(lab);
      }),
  },
];
