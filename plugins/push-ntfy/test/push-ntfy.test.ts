import type { EventDraft, EventRecord, PushTarget } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { push } from '@svc/plugin-push';
import { pushNtfy } from '@svc/plugin-push-ntfy';
import { expect } from 'chai';
import { NtfyServer, type Published } from './ntfy-server.js';

const VARIABLE = 'SVC_TEST_NTFY_TOKEN';

describe('push to ntfy', () => {
  let ntfy: NtfyServer;
  let url: string;
  let kernel: TestKernel;

  beforeEach(async () => {
    process.env[VARIABLE] = 'tk_hunter2';
    ntfy = new NtfyServer();
    url = await ntfy.listen();
  });
  afterEach(async () => {
    await kernel.close();
    await ntfy.close();
    delete process.env[VARIABLE];
  });

  async function start(...targets: readonly PushTarget[]): Promise<void> {
    kernel = await createTestKernel({ plugins: [events(), push(), pushNtfy({ targets: [...targets] })] });
  }
  async function happen(draft: Partial<EventDraft>): Promise<EventRecord> {
    return kernel.ctx.transaction((tx) =>
      kernel.use(eventsRef).append(tx, { type: 'LOSS_NAN', title: 't', ...draft }),
    );
  }
  async function publish(draft: Partial<EventDraft>): Promise<Published> {
    await start({ name: 'phone', url: `${url}/training` });
    await happen(draft);
    await until(() => ntfy.published.length + ntfy.refusals.length > 0);
    expect(ntfy.refusals).to.deep.equal([]);
    return ntfy.published[0] as Published;
  }

  it('sends the message as the body, and title, priority, tags and event id as headers', async () => {
    await start({ name: 'phone', url: `${url}/training`, token: { env: VARIABLE } });
    const event = await happen({ severity: 'critical', title: 'Loss is NaN', message: 'at step 12' });
    await until(() => ntfy.published.length > 0);
    const [{ headers, ...rest }] = ntfy.published as [Published];
    expect(rest).to.deep.equal({
      ...{ topic: 'training', title: 'Loss is NaN', message: 'at step 12', priority: 5 },
      ...{ tags: ['LOSS_NAN', 'critical'], eventId: event.id, authorization: 'Bearer tk_hunter2' },
    });
    expect(headers).to.include({ title: 'Loss is NaN', priority: '5', tags: 'LOSS_NAN,critical' });
  });

  for (const [severity, priority] of [
    ['info', 3],
    ['warning', 4],
    ['critical', 5],
  ] as const)
    it(`gives an event of severity ${severity} the priority ${priority}`, async () => {
      expect(await publish({ severity })).to.include({ priority, authorization: undefined });
    });

  const titles: [string, string][] = [
    ['beyond ASCII', 'Läuft über: Verlust ist NaN – 损失 😀'],
    ['so long that it takes several encoded words', '损失😀ä'.repeat(40)],
    ['with line breaks, which must not become headers', 'one\r\nX-Click: http://evil.example.org'],
    ['that looks like an encoded word', '=?UTF-8?B?aGk=?='],
    ['with control characters', 'a\u0000\u0007\tb\u007f'.replace('\0', '')],
    ['of 500 emoji', '😀'.repeat(500)],
  ];
  for (const [what, title] of titles)
    it(`keeps a title ${what}`, async () => expect((await publish({ title })).title).to.equal(title));

  it('cuts a title and a message that are too long, between characters', async () => {
    const { title, message } = await publish({ title: 'ä'.repeat(3000), message: `a${'😀'.repeat(3000)}` });
    expect(Buffer.byteLength(title)).to.be.within(2040, 2048);
    expect(title).to.match(/^ä+…$/);
    expect(Buffer.byteLength(message)).to.be.within(4090, 4096);
    expect(message).to.match(/^a😀+…$/u);
  });

  it('sends a message of exactly 4096 bytes whole', async () => {
    const message = 'ä'.repeat(2048);
    expect((await publish({ message })).message).to.equal(message);
  });

  it('sends to each target what it wants', async () => {
    await start(
      { name: 'all', url: `${url}/all` },
      {
        name: 'severe',
        url: `${url}/severe`,
        min_severity: 'critical',
        types: ['OOM'],
        delivery: 'at-least-once',
      },
    );
    await happen({ title: 'one', severity: 'critical' });
    await happen({ title: 'two', severity: 'critical', type: 'OOM' });
    await until(() => ntfy.published.length === 3);
    const told = (wanted: string) =>
      ntfy.published.filter(({ topic }) => topic === wanted).map(({ title }) => title);
    expect([told('all'), told('severe')]).to.deep.equal([['one', 'two'], ['two']]);
  });
});
