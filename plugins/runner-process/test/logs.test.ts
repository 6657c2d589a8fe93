import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { readFile, stat } from 'node:fs/promises';
import { createHost, type Host } from './support/host.js';

const count = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe('process runner: logs', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent({ timing: { stableMs: 0 } });
  });
  afterEach(() => host.close());

  it('ships both streams, each in its order, before the end is reported', async () => {
    const key = host.sh('echo a; echo b >&2; echo c; printf d; printf e >&2');
    await host.server.frame('attempt', ({ state }) => state === 'ended');
    expect(host.server.logs.isComplete(key)).to.equal(true);
    expect(host.server.logs.lines(key)).to.deep.equal(['a', 'c', 'd']);
    expect(host.server.logs.lines(key, 'stderr')).to.deep.equal(['b', 'e']);
  });

  it('says the end of a stream that stayed empty', async () => {
    const key = host.run(['true']);
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.deep.equal([]);
    expect(host.server.logs.offset(key)).to.equal(0);
  });

  it('covers every byte of the file, frame by frame without a gap', async () => {
    const key = host.sh('seq 1 20000; printf "no newline at the end"');
    await host.server.ended(key);
    const frames = host.server.all('logs').filter(({ stream }) => stream === 'stdout');
    frames.forEach(({ from }, index) => expect(from).to.equal(frames[index - 1]?.to ?? 0));
    expect(frames.at(-1)).to.include({ to: (await stat(host.file(key, 'stdout'))).size, end: true });
    expect(host.server.logs.lines(key)).to.deep.equal([...count(1, 20000), 'no newline at the end']);
  });

  it('ships a line at once, while the job runs', async () => {
    const key = host.sh('echo first; sleep 300');
    await until(() => host.server.logs.lines(key).length === 1, 'the line');
    const [frame] = host.server.all('logs');
    expect(frame).to.deep.include({ lines: ['first'], from: 0, to: 6, end: false });
  });

  it('holds back a line that is not complete while the job runs', async () => {
    const key = host.sh('echo one; printf two; sleep 0.3; echo " three"; sleep 300');
    await until(() => host.server.logs.lines(key).length === 2, 'two lines');
    expect(host.server.logs.lines(key)).to.deep.equal(['one', 'two three']);
  });

  it('shows the last state of a progress bar', async () => {
    const script =
      'i=0; while [ $i -lt 500 ]; do printf "\\r%d%%|####" $i >&2; i=$((i+1)); done; echo >&2; echo done >&2';
    const key = host.sh(script);
    await host.server.ended(key);
    expect(host.server.logs.lines(key, 'stderr')).to.deep.equal(['499%|####', 'done']);
  });

  it('ships the output of grandchildren up to their end', async () => {
    const key = host.sh('(while :; do echo tick; sleep 0.01; done) & sleep 0.2; exit 0');
    await host.server.ended(key);
    const { size } = await stat(host.file(key, 'stdout'));
    expect(host.server.logs.offset(key)).to.equal(size);
  });

  it('loses and doubles nothing when the connection is cut again and again', async () => {
    const key = host.sh('i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo $i; sleep 0.01; done');
    for (const mark of [15, 40, 65, 90]) {
      await until(() => host.server.logs.lines(key).length >= mark, `line ${mark}`);
      const { welcomes } = host.server;
      host.server.cut();
      await until(() => host.server.welcomes > welcomes, 'the agent to come back');
    }
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.deep.equal(count(1, 100));
    expect(host.server.logs.refused(key)).to.equal(0);
  });

  it('goes back to the mark of a server that missed frames', async () => {
    const key = host.sh('seq 1 1000; sleep 0.2; seq 1001 2000; sleep 300');
    await until(() => host.server.logs.lines(key).length >= 1000, 'the first thousand');
    host.server.logs.truncate(key, 'stdout', 100, 292);
    await until(() => host.server.logs.lines(key).length === 2000, 'all lines');
    expect(host.server.logs.lines(key)).to.deep.equal(count(1, 2000));
  });

  it('ships what is left after the server has had the end and come back', async () => {
    host.server.acknowledges = false;
    const key = host.sh('seq 1 100');
    await host.server.frame('attempt', ({ state }) => state === 'ended');
    host.server.logs.truncate(key, 'stdout', 10, 21);
    host.server.acknowledges = true;
    host.server.cut();
    await until(() => host.server.logs.lines(key).length === 100, 'all lines');
    expect(host.server.logs.lines(key)).to.deep.equal(count(1, 100));
  });

  it('keeps the agent small while a job prints as fast as it can', async () => {
    await host.closeAgent();
    const { pid } = await host.spawnAgent();
    const idleKb = await memoryKb(pid, 'VmRSS');
    const key = host.sh(
      'yes "step 1234 loss=0.123456 lr=3e-4 and some more text to make it a line" | head -n 600000',
    );
    await until(() => host.server.logs.isComplete(key), { what: 'all of the log', timeoutMs: 60_000 });
    expect(host.server.logs.lines(key)).to.have.length(600_000);
    const grownMb = ((await memoryKb(pid, 'VmHWM')) - idleKb) / 1024;
    expect(grownMb).to.be.below(100);
  }).timeout(70_000);
});

async function memoryKb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
}
