import { FakeAgent } from '@svc/agent/testing';
import { definePlugin, fail } from '@svc/kernel';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { Type } from 'typebox';
import { nodes, nodesRef, type MessageSource } from '../src/index.js';

const KEY = { job_id: 'job_1', attempt: 1 };

describe('channels of agent plugins', () => {
  let kernel: TestKernel;
  let agent: FakeAgent;
  let stored: [text: string, from: MessageSource][];
  let failures: number;
  beforeEach(async () => {
    stored = [];
    failures = 0;
    const facts = definePlugin({
      name: 'facts',
      requires: ['nodes'],
      setup(ctx) {
        const schema = Type.Object({ text: Type.String() }, { additionalProperties: false });
        ctx.use(nodesRef).channel('facts.told', schema, async ({ text }, from) => {
          if (text === 'gone') fail('not_found', 'there is no such attempt');
          if (text === 'broken' && ++failures > 0) throw new Error('a defect');
          stored.push([text, from]);
        });
      },
    });
    kernel = await createTestKernel({ plugins: [events(), nodes(), facts()] });
    agent = new FakeAgent({ url: kernel.url });
  });
  afterEach(async () => {
    await agent.close();
    await kernel.close();
  });

  async function send(messages: readonly unknown[], channel = 'facts.told') {
    const lines = messages.map((message, index) => ({ to: index + 1, text: JSON.stringify(message) }));
    agent.send({ type: 'channel', channel, file: '1.jsonl', from: 0, lines });
    return agent.take('channel_ack');
  }
  const warnings = async () =>
    (await kernel.request('GET', '/events?severity=warning', { token: 'read' })).body.items;

  it('are named in the welcome', async () => {
    expect((await agent.connect()).channels).to.deep.equal(['facts.told']);
  });

  it('hand each message to its handler and acknowledge it when that has stored it', async () => {
    await agent.connect();
    const ack = await send([{ message: { text: 'a' } }, { message: { text: 'b' }, attempt: KEY }]);
    expect(ack).to.deep.equal({
      type: 'channel_ack',
      channel: 'facts.told',
      file: '1.jsonl',
      offset: 2,
      refused: [],
    });
    const node = { id: agent.nodeId, name: 'gpu-1' };
    expect(stored).to.deep.equal([
      ['a', { node, attempt: null }],
      ['b', { node, attempt: KEY }],
    ]);
  });

  it('refuse what does not fit, for good, tell of it once, and go on behind it', async () => {
    await agent.connect();
    const wrong = [{ message: { text: 7 } }, { text: 'no envelope' }, { message: { text: 'gone' } }];
    const ack = await send([...wrong, { message: { text: 'fine' } }]);
    expect(ack.offset).to.equal(4);
    expect(ack.refused.map(({ to }) => to)).to.deep.equal([1, 2, 3]);
    expect(ack.refused[2]?.reason).to.equal('there is no such attempt');
    expect(stored.map(([text]) => text)).to.deep.equal(['fine']);
    await send(wrong);
    const told = await until(async () => ((await warnings()).length > 0 ? warnings() : null));
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({ node_id: agent.nodeId, type: 'CUSTOM' });
  });

  it('set a message aside that the handler fails on again and again', async () => {
    await agent.connect();
    const messages = [
      { message: { text: 'a' } },
      { message: { text: 'broken' } },
      { message: { text: 'b' } },
    ];
    for (let tries = 1; tries < 8; tries++) expect((await send(messages)).offset).to.equal(1);
    const ack = await send(messages);
    expect(ack).to.include({ offset: 3 });
    expect(ack.refused.map(({ to }) => to)).to.deep.equal([2]);
    expect(failures).to.equal(8);
  });

  it('acknowledge nothing of a channel that no plugin has', async () => {
    await agent.connect();
    expect(await send([{ message: 1 }], 'nobodys')).to.include({ offset: 0 });
  });
});
