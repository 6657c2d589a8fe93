import type { AttemptKey, FrameOf, AgentFrame } from '@svc/contract';
import { until } from '@svc/agent/testing';
import { MAX_LINE_BYTES } from '@svc/contract/protocol';
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { createHost, type Host } from './support/host.js';

type Partial = FrameOf<AgentFrame, 'partial'>;

const EVERY_MS = 1000;

describe('process runner: lines that have no end yet', function () {
  this.timeout(60_000);
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent({ timing: { stableMs: 0 } });
  });
  afterEach(() => host.close());

  const partials = () => host.server.all('partial');
  const shown = (text: string) => host.server.frame('partial', (frame) => frame.text === text);
  const go = (key: AttemptKey) => writeFile(host.file(key, 'work/go'), '');
  const wait = 'while [ ! -e go ]; do sleep 0.02; done';
  /** Must hold in whatever is sent. */
  function expectSlow(frames: readonly Partial[]): void {
    const times = frames.map(({ ts }) => ts);
    times.slice(1).forEach((ts, index) => expect(ts - times[index]!).to.be.at.least(EVERY_MS - 20));
  }

  it('are shown as they are, and stored once, when they end', async () => {
    const key = host.sh(`echo first; printf 'Continue? '; ${wait}; echo yes; ${wait}`);
    expect(await shown('Continue? ')).to.include({ ...key, stream: 'stdout' });
    expect(host.server.logs.lines(key)).to.deep.equal(['first']);
    await go(key);
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.deep.equal(['first', 'Continue? yes']);
    expect(partials()).to.have.length(1);
  });

  it('are shown at most once a second while a progress bar changes, each time in its last state', async () => {
    const bar =
      'i=0; while [ ! -e go ]; do i=$((i+1)); printf "\\r%d steps" $i >&2; sleep 0.02; done; echo >&2';
    const key = host.sh(bar);
    await until(() => partials().length === 4, { what: 'four states', timeoutMs: 20_000 });
    await go(key);
    await host.server.ended(key);
    expectSlow(partials());
    const steps = partials().map(({ text }) => Number(/^(\d+) steps$/.exec(text)?.[1]));
    expect(steps).to.deep.equal([...new Set(steps)].sort((a, b) => a - b));
    const last = host.server.logs.lines(key, 'stderr');
    expect(last).to.have.length(1);
    expect(Number(last[0]!.split(' ')[0])).to.be.at.least(steps.at(-1)!);
  });

  it('are not shown of a job that writes a line and its end one after the other', async () => {
    const key = host.sh(
      'i=0; while [ $i -lt 150 ]; do i=$((i+1)); printf line; printf "\\n"; sleep 0.01; done',
    );
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.have.length(150);
    expect(partials()).to.deep.equal([]);
  });

  it('are taken back when the job wipes them out', async () => {
    const key = host.sh(
      `printf 'loading'; ${wait}; printf '\\r\\r'; printf '\\r'; printf '\\r\\033[K'; sleep 300`,
    );
    await shown('loading');
    await go(key);
    await shown('\u001b[K');
    expect(host.server.logs.lines(key)).to.deep.equal([]);
  });

  it('are shown again on a new connection', async () => {
    host.sh("printf 'Password: '; sleep 300");
    await shown('Password: ');
    const { welcomes } = host.server;
    host.server.cut();
    await until(() => host.server.welcomes > welcomes, 'the agent to come back');
    await until(() => partials().length === 2, 'the line again');
    expect(partials().map(({ text }) => text)).to.deep.equal(['Password: ', 'Password: ']);
  });

  it('are shown by the next agent', async () => {
    const key = host.sh(`printf 'half '; ${wait}; echo whole; sleep 300`);
    await shown('half ');
    await host.closeAgent();
    await host.startAgent();
    await until(() => partials().length === 2, 'the line again');
    await go(key);
    await until(() => host.server.logs.lines(key).length === 1, 'the line');
    expect(host.server.logs.lines(key)).to.deep.equal(['half whole']);
  });

  it('have a bounded length, and no character that is not whole', async () => {
    const key = host.sh(
      `head -c ${MAX_LINE_BYTES + 5} /dev/zero | tr '\\0' x; printf '\\303\\244\\303'; sleep 300`,
    );
    await shown('xxxxxä');
    expect(host.server.logs.lines(key)).to.deep.equal(['x'.repeat(MAX_LINE_BYTES)]);
  });

  it('are the last line of a job that ends without finishing them', async () => {
    const key = host.sh(`printf 'the end'; ${wait}`);
    await shown('the end');
    await go(key);
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.deep.equal(['the end']);
  });
});
