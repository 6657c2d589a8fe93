import type { EventDraft, EventRecord, PushTarget } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { push } from '@svc/plugin-push';
import { pushNtfy } from '@svc/plugin-push-ntfy';
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { servers, type Message, type Ntfy } from './ntfy.js';

const VARIABLE = 'SVC_TEST_NTFY_TOKEN';

describe('push to ntfy', () => {
  let kernel: TestKernel;
  let warnings: string[];

  beforeEach(() => {
    warnings = [];
    process.env[VARIABLE] = 'tk_hunter2';
  });
  afterEach(async () => {
    await kernel.close();
    delete process.env[VARIABLE];
  });

  async function start(...targets: readonly PushTarget[]): Promise<void> {
    kernel = await createTestKernel({
      plugins: [events(), push(), pushNtfy({ targets: [...targets] })],
      logLevel: 'warn',
      writeLog: (line: string) => warnings.push(line),
    });
  }
  async function happen(draft: Partial<EventDraft>): Promise<EventRecord> {
    return kernel.ctx.transaction((tx) =>
      kernel.use(eventsRef).append(tx, { type: 'LOSS_NAN', title: 't', ...draft }),
    );
  }

  it('has the body and the headers of the contract', async () => {
    const received: { headers: IncomingHttpHeaders; body: string }[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        received.push({ headers: request.headers, body });
        response.end();
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/training`;
    await start({ name: 'phone', url, token: { env: VARIABLE } });
    const event = await happen({ severity: 'critical', title: 'Läuft', message: 'at step 12' });
    await until(() => received.length > 0);
    expect(received[0]?.body).to.equal('at step 12');
    expect(received[0]?.headers).to.include({
      title: '=?UTF-8?B?TMOkdWZ0?=',
      priority: '5',
      tags: 'LOSS_NAN,critical',
      'x-event-id': event.id,
      authorization: 'Bearer tk_hunter2',
    });
    receiver.closeAllConnections();
    receiver.close();
    await once(receiver, 'close');
  });

  for (const [what, startNtfy] of servers)
    describe(`is taken by ${what}`, () => {
      let ntfy: Ntfy;
      before(async function () {
        this.timeout(30_000);
        ntfy = await startNtfy();
      });
      after(() => ntfy.close());
      beforeEach(() => {
        process.env[VARIABLE] = ntfy.token;
      });

      let topics = 0;
      const nextTopic = (): string => `topic-${(topics += 1)}`;
      const target = (topic: string): PushTarget => ({
        name: topic,
        url: `${ntfy.url}/${topic}`,
        token: { env: VARIABLE },
      });
      async function published(topic: string, count: number): Promise<readonly Message[]> {
        await until(async () => warnings.length > 0 || (await ntfy.messages(topic)).length >= count);
        expect(warnings).to.deep.equal([]);
        return ntfy.messages(topic);
      }
      async function publish(draft: Partial<EventDraft>): Promise<Message> {
        const topic = nextTopic();
        await start(target(topic));
        await happen(draft);
        return (await published(topic, 1))[0] as Message;
      }

      it('with the message as its body, and with title, priority and tags', async () =>
        expect(
          await publish({ severity: 'critical', title: 'Loss is NaN', message: 'at step 12' }),
        ).to.deep.equal({
          title: 'Loss is NaN',
          message: 'at step 12',
          priority: 5,
          tags: ['LOSS_NAN', 'critical'],
        }));

      it('without a message, with the title as its body, too', async () =>
        expect(await publish({ title: 'Loss is NaN' })).to.include({
          title: 'Loss is NaN',
          message: 'Loss is NaN',
        }));

      for (const [severity, priority] of [
        ['info', 3],
        ['warning', 4],
        ['critical', 5],
      ] as const)
        it(`with the priority ${priority} for an event of severity ${severity}`, async () =>
          expect(await publish({ severity })).to.include({ priority }));

      const titles: [string, string][] = [
        ['beyond ASCII', 'Läuft über: Verlust ist NaN – 损失 😀'],
        ['so long that it takes several encoded words', '损失😀ä'.repeat(40)],
        ['with line breaks, which must not become headers', 'one\r\nX-Click: http://evil.example.org'],
        ['that looks like an encoded word', '=?UTF-8?B?aGk=?='],
        ['with control characters', 'a\u0001\u0007\tb\u007f'],
        ['of 500 emoji', '😀'.repeat(500)],
      ];
      for (const [what, title] of titles)
        it(`with a title ${what}`, async () => expect((await publish({ title })).title).to.equal(title));

      it('with a title and a message that are too long, cut between characters', async () => {
        const { title, message } = await publish({
          title: 'ä'.repeat(3000),
          message: `a${'😀'.repeat(3000)}`,
        });
        expect(Buffer.byteLength(title)).to.be.within(2040, 2048);
        expect(title).to.match(/^ä+…$/);
        expect(Buffer.byteLength(message)).to.be.within(4089, 4095);
        expect(message).to.match(/^a😀+…$/u);
      });

      for (const bytes of [4095, 4096])
        it(`with a message of ${bytes} bytes, as a message and not as an attachment`, async () => {
          const message = 'x'.repeat(bytes);
          const taken = (await publish({ message })).message;
          if (bytes === 4095) expect(taken).to.equal(message);
          else expect(taken).to.match(/^x+…$/);
        });

      it('only with its token', async () => {
        const topic = nextTopic();
        await start({ name: topic, url: `${ntfy.url}/${topic}` });
        await happen({});
        await until(() => warnings.length > 0);
        expect(warnings[0]).to.match(/the target answered 40[03]/);
        expect(await ntfy.messages(topic)).to.deep.equal([]);
      });

      it('at each topic that wants it', async () => {
        const [all, severe] = [nextTopic(), nextTopic()];
        await start(target(all), {
          ...target(severe),
          min_severity: 'critical',
          types: ['OOM'],
          delivery: 'at-least-once',
        });
        await happen({ title: 'one', severity: 'critical' });
        await happen({ title: 'two', severity: 'critical', type: 'OOM' });
        const titlesOf = (messages: readonly Message[]) => messages.map(({ title }) => title).toSorted();
        expect(titlesOf(await published(all, 2))).to.deep.equal(['one', 'two']);
        expect(titlesOf(await published(severe, 1))).to.deep.equal(['two']);
      });
    });
});
