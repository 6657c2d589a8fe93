import type { EventDraft, EventRecord } from '@svc/contract';
import { BootError } from '@svc/kernel';
import { createTestKernel, fakeClock, until, type FakeClock, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { push } from '@svc/plugin-push';
import { pushWebhook } from '@svc/plugin-push-webhook';
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const VARIABLE = 'SVC_TEST_WEBHOOK_SECRET';
const PREVIOUS = 'SVC_TEST_WEBHOOK_PREVIOUS_SECRET';
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const RECEIVER = fileURLToPath(new URL('receiver.mjs', import.meta.url));

interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

type Target = NonNullable<NonNullable<Parameters<typeof pushWebhook>[0]>['targets']>[number];

describe('push to a webhook', function () {
  this.timeout(20_000);
  const secret = newSecret();
  const receivers: ChildProcess[] = [];
  let kernel: TestKernel | undefined;
  let clock: FakeClock;

  beforeEach(() => {
    clock = fakeClock(Date.now());
    process.env[VARIABLE] = secret;
  });
  afterEach(async () => {
    await kernel?.close();
    kernel = undefined;
    delete process.env[VARIABLE];
    delete process.env[PREVIOUS];
    for (const receiver of receivers.splice(0)) {
      receiver.kill();
      await once(receiver, 'close');
    }
  });

  /** A process of its own: what it received is added to `received`. */
  async function receive(key: string): Promise<{ url: string; received: Received[] }> {
    const child = spawn(process.execPath, [RECEIVER, key], { stdio: ['ignore', 'pipe', 'inherit'] });
    receivers.push(child);
    const received: Received[] = [];
    const lines = createInterface({ input: child.stdout });
    const [first] = (await once(lines, 'line')) as [string];
    lines.on('line', (line) => received.push(JSON.parse(line) as Received));
    return { url: (JSON.parse(first) as { url: string }).url, received };
  }
  async function start(...without: readonly Omit<Target, 'name'>[]): Promise<void> {
    const targets = without.map((target, index) => ({ name: `hook-${index}`, ...target }));
    kernel = await createTestKernel({ plugins: [events(), push(), pushWebhook({ targets })], clock });
  }
  const happen = async (draft: Partial<EventDraft> = {}): Promise<EventRecord> => {
    const { ctx, use } = kernel!;
    return ctx.transaction((tx) => use(eventsRef).append(tx, { type: 'OOM', title: 'oom', ...draft }));
  };

  it('is signed so that the library of Standard Webhooks accepts it', async () => {
    const { url, received } = await receive(secret);
    await start({ url, secret: { env: VARIABLE } });
    const draft = { message: 'Läuft 损失 😀\n"quoted" \\ ', data: { nested: [1, null] } };
    const event = await happen(draft);
    await until(() => received.length > 0);
    const timestamp = new Date(event.created_at).toISOString();
    expect(received[0]?.body).to.deep.equal({ type: 'OOM', timestamp, data: event });
    expect(received[0]?.headers).to.include({
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(clock.now() / 1000)),
    });
  });

  it('is refused by that library when the secret is another one', async () => {
    const { url, received } = await receive(newSecret());
    await start({ url, secret: { env: VARIABLE } });
    await happen();
    await until(() => received.length > 0);
    expect(received[0]?.error).to.match(/signature/i);
  });

  it('is accepted by a receiver with either secret while one replaces the other', async () => {
    const previous = newSecret();
    process.env[PREVIOUS] = previous;
    const others = [await receive(secret), await receive(previous), await receive(newSecret())];
    const same = { secret: { env: VARIABLE }, previous_secret: { env: PREVIOUS } };
    await start(...others.map(({ url }) => ({ url, ...same })));
    const event = await happen();
    await until(() => others.every(({ received }) => received.length > 0));
    const [withNew, withOld, withNeither] = others.map(({ received }) => received[0]);
    expect([withNew?.body['data'], withOld?.body['data']]).to.deep.equal([event, event]);
    expect(withNeither?.error).to.match(/signature/i);
    expect(withNew?.headers['webhook-signature']).to.match(/^v1,[\w+/]+=* v1,[\w+/]+=*$/);
  });

  it('has the same id and a new signature when it is sent again', async () => {
    const { url, received } = await receive(newSecret());
    await start({ url, secret: { env: VARIABLE }, delivery: 'at-least-once' });
    await happen();
    await until(() => received.length === 1);
    const isWaiting = async () =>
      (await kernel!.request('GET', '/events/deliveries', { token: 'read' })).body.items[0].tries === 1;
    await until(isWaiting);
    await clock.advance(5_000);
    await until(() => received.length === 2);
    const [first, again] = received as [Received, Received];
    expect(again.headers['webhook-id']).to.equal(first.headers['webhook-id']);
    expect(Number(again.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).to.equal(
      5,
    );
    expect(again.headers['webhook-signature']).to.not.equal(first.headers['webhook-signature']);
  });

  it('is not signed without a secret', async () => {
    const { url, received } = await receive('');
    await start({ url });
    const { id } = await happen();
    await until(() => received.length > 0);
    expect(received[0]?.headers).to.include({ 'webhook-id': id }).and.not.have.property('webhook-signature');
  });

  it('has the form of Slack by the template slack, in which no text of a training is markup', async () => {
    const { url, received } = await receive('');
    await start({ url, template: 'slack' });
    await happen({ severity: 'critical', title: 'a <!channel> & b', message: '<http://evil.example.org|x>' });
    await until(() => received.length > 0);
    const text = '*a &lt;!channel&gt; &amp; b*\n&lt;http://evil.example.org|x&gt;\n_critical · OOM_';
    expect(received[0]?.body).to.deep.equal({ text });
  });

  it('cuts a long message for Slack to 4 KB', async () => {
    const { url, received } = await receive('');
    await start({ url, template: 'slack' });
    await happen({ message: 'ä'.repeat(19_000) });
    await until(() => received.length > 0);
    expect(Buffer.byteLength(received[0]?.body['text'] as string)).to.be.within(4096, 4200);
  });

  it('fills a template of your own: within a text as text, alone as the value itself', async () => {
    const { url, received } = await receive('');
    const template = {
      content: '**{{title}}** {{ severity }}: {{message}}',
      run: '{{run_id}}',
      text: 'run {{run_id}}',
      details: { all: '{{data}}', in: 'data {{data}}', list: ['{{id}}', 7, null, true] },
      at: '{{timestamp}}',
    };
    await start({ url, template });
    const event = await happen({ title: 'say "hi" {{id}}', message: '\\', data: { loss: 1 } });
    await until(() => received.length > 0);
    expect(received[0]?.body).to.deep.equal({
      content: '**say "hi" {{id}}** info: \\',
      run: null,
      text: 'run ',
      details: { all: { loss: 1 }, in: 'data {"loss":1}', list: [event.id, 7, null, true] },
      at: new Date(event.created_at).toISOString(),
    });
  });

  async function refusal(target: Record<string, unknown>): Promise<string> {
    const error: unknown = await start({ url: 'http://127.0.0.1:1', ...target } as Target).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(BootError);
    return (error as Error).message;
  }

  it('is not started with a template that names no field of an event, or a secret that is none', async () => {
    expect(await refusal({ template: { text: '{{titel}}' } })).to.contain(
      '{{titel}}, which is none of id, type',
    );
    expect(await refusal({ template: 'teams' })).to.contain('template');
    for (const bad of ['hunter2', Buffer.alloc(23).toString('base64'), Buffer.alloc(65).toString('base64')]) {
      process.env[VARIABLE] = bad;
      const message = await refusal({ secret: { env: VARIABLE } });
      expect(message).to.contain('24 to 64 bytes in base64').and.not.contain(bad);
    }
    process.env[VARIABLE] = secret;
    process.env[PREVIOUS] = 'hunter2';
    const previous_secret = { env: PREVIOUS };
    const both = await refusal({ secret: { env: VARIABLE }, previous_secret });
    expect(both)
      .to.contain('the previous_secret of target "hook-0" must be 24 to 64 bytes')
      .and.not.contain('hunter2');
    expect(await refusal({ previous_secret })).to.contain('has a previous_secret but no secret');
  });
});
