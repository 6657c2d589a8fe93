import type { ChannelMessage } from '@svc/contract';
import { expect } from 'chai';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineAgentPlugin, type Channel } from '../../src/index.js';
import { runnerPlugin, until } from '../../testing/index.js';
import { Bench } from '../support/bench.js';

const NAME = 'extra.facts';
const KEY = { job_id: 'job_1', attempt: 2 };

describe('agent: channels of plugins', () => {
  let bench: Bench;
  let channel: Channel;
  beforeEach(async () => {
    bench = await Bench.create();
    bench.server.channels = [NAME];
  });
  afterEach(() => bench.close());

  const plugin = (name = NAME, of = 'extra') =>
    defineAgentPlugin({ name: of, setup: (ctx) => void (channel = ctx.channel(name)) })();
  const start = () => bench.connect({ plugins: [runnerPlugin(bench.runner), plugin()] });
  const dir = () => path.join(bench.stateDir, 'channels', NAME);
  const files = () => (existsSync(dir()) ? readdirSync(dir()).filter((name) => name.endsWith('.jsonl')) : []);
  const arrived = () =>
    bench.server
      .all('channel')
      .flatMap(({ lines }) => lines.map(({ text }) => JSON.parse(text) as ChannelMessage));

  it('bring messages in their order, with the attempt that they are about', async () => {
    await start();
    await Promise.all([channel.send({ n: 1 }), channel.send('two', KEY), channel.send(null)]);
    await until(() => arrived().length === 3, 'the messages');
    expect(arrived()).to.deep.equal([
      { message: { n: 1 } },
      { message: 'two', attempt: KEY },
      { message: null },
    ]);
    expect(bench.server.all('channel')[0]).to.include({ channel: NAME, from: 0 });
  });

  it('keep them for a server that does not take them, and for the next agent', async () => {
    bench.server.channels = [];
    await start();
    await channel.send('first');
    await bench.closeAgents();
    await start();
    await channel.send('second');
    expect(files()).to.have.length(2);
    bench.server.channels = [NAME];
    bench.server.cut();
    await until(() => arrived().length === 2, 'the messages');
    expect(arrived().map(({ message }) => message)).to.deep.equal(['first', 'second']);
    await until(() => files().length === 1, 'the removal of what is delivered');
  });

  it('wait for the server when they are asked to: at most that long, and not for one that takes nothing', async () => {
    bench.server.channels = [];
    await start();
    await channel.deliver('nobody takes it', 60_000);
    bench.server.channels = [NAME];
    let acknowledge = false;
    bench.server.takeChannel = ({ lines }) =>
      acknowledge ? { offset: lines.at(-1)?.to ?? 0, refused: [] } : null;
    bench.server.cut();
    await until(() => arrived().length === 1, 'the first message');
    await channel.deliver('too late', 1);
    acknowledge = true;
    bench.server.cut();
    await channel.deliver('in time', 60_000);
    expect(arrived().map(({ message }) => message)).to.include('in time');
  });

  it('send again what was not acknowledged, and begin a file of their own after a torn one', async () => {
    bench.server.takeChannel = () => null;
    await start();
    await channel.send('unanswered');
    await until(() => arrived().length === 1, 'the first try');
    await bench.closeAgents();
    appendFileSync(path.join(dir(), files()[0] as string), '{"message": "to');
    bench.server.takeChannel = ({ lines }) => ({ offset: lines.at(-1)?.to ?? 0, refused: [] });
    await start();
    await channel.send('after');
    await until(() => arrived().length === 3, 'both');
    expect(arrived().map(({ message }) => message)).to.deep.equal(['unanswered', 'unanswered', 'after']);
    await until(() => files().length === 1, 'the removal of the torn file');
    expect(bench.logged.join('')).to.include('the torn last line');
  });

  it('set aside what the server refuses, say so once, and go on', async () => {
    bench.server.takeChannel = ({ lines }) => ({
      offset: lines.at(-1)?.to ?? 0,
      refused: lines.filter(({ text }) => text.includes('bad')).map(({ to }) => ({ to, reason: 'no sense' })),
    });
    await start();
    await Promise.all(['bad one', 'good', 'bad two'].map((text) => channel.send(text)));
    const aside = `${dir()}.refused.jsonl`;
    await until(
      () => existsSync(aside) && readFileSync(aside, 'utf8').split('\n').length === 3,
      'both of them',
    );
    expect(readFileSync(aside, 'utf8')).to.include('no sense').and.include('bad two');
    expect(bench.logged.filter((line) => line.includes('a spooled record was refused'))).to.have.length(1);
  });

  it('refuse a name that is no name or is taken, and a message that is too large', async () => {
    const failure = (...names: [string, string][]) =>
      bench.connect({ plugins: names.map(([name, of]) => plugin(name, of)) }).then(
        () => 'none',
        (error: Error) => error.message,
      );
    expect(await failure(['../x', 'one'])).to.include('needs a name as in');
    expect(await failure(['a.b', 'one'], ['a.b', 'two'])).to.include('there is a channel "a.b" already');
    await start();
    const error = await channel.send('x'.repeat(1024 * 1024)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TypeError);
  });
});
