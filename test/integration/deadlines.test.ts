import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { until } from '@svc/kernel/testing';
import { ROOT, startProgram, type Ended } from '../support/program.js';

const SHORT_LIMIT_MS = 8_000;
const LONG_LIMIT_MS = 120_000;

describe('a test process that does not end as it should', function () {
  this.timeout(2 * LONG_LIMIT_MS);
  let ended: Record<string, Ended>;

  before(async () => {
    const runs = Object.entries({
      'waits-for-ever': SHORT_LIMIT_MS,
      spins: SHORT_LIMIT_MS,
      'leaves-a-child': LONG_LIMIT_MS,
      'leaves-a-socket': LONG_LIMIT_MS,
      'keeps-the-process': LONG_LIMIT_MS,
    });
    ended = Object.fromEntries(
      await Promise.all(
        runs.map(async ([name, limitMs]) => [name, await runFixture(name, limitMs)] as const),
      ),
    );
  });

  it('is killed when it waits for ever; the test, its sockets and its processes are told', async () => {
    expectSum('waits-for-ever', '1 passed, 1 failed, 0 skipped');
    expectOutput(
      'waits-for-ever',
      /was killed, at: test\/fixtures\/deadlines\/waits-for-ever\.ts: waits for ever$/m,
    );
    expectOutput('waits-for-ever', /socket: 127\.0\.0\.1:\d+ to 127\.0\.0\.1:\d+/);
    expectOutput('waits-for-ever', /^ +\d+ S sleep 300$/m);
    await until(() => !isLiving('waits-for-ever'));
  });

  it('is killed when it spins; its stack is told', () => {
    expectSum('spins', '0 passed, 1 failed, 0 skipped');
    expectOutput('spins', /was killed, at: test\/fixtures\/deadlines\/spins\.ts: spins$/m);
    expectOutput('spins', /at goRound \(.*spins\.ts/);
  });

  it('fails when it leaves a process behind, which is ended', async () => {
    expectSum('leaves-a-child', '1 passed, 1 failed, 0 skipped');
    expectOutput('leaves-a-child', /it left a process behind: \d+ sleep 300$/m);
    await until(() => !isLiving('leaves-a-child'));
  });

  it('fails and ends when it leaves a socket that Node never closes', () => {
    expectSum('leaves-a-socket', '1 passed, 1 failed, 0 skipped');
    expectOutput('leaves-a-socket', /the tests left behind: TCPSocketWrap/);
  });

  it('fails and ends when something else keeps it', () => {
    expectSum('keeps-the-process', '1 passed, 1 failed, 0 skipped');
    expectOutput('keeps-the-process', /the tests are over, but something keeps the process/);
  });

  function expectSum(name: string, sum: string): void {
    const { status, stdout, stderr } = ended[name]!;
    expect(stdout.trimEnd().split('\n').at(-1), `${stdout}\n${stderr}`).to.equal(sum);
    expect(status).to.equal(1);
  }

  function expectOutput(name: string, pattern: RegExp): void {
    expect(`${ended[name]!.stdout}\n${ended[name]!.stderr}`).to.match(pattern);
  }

  /** Of the process whose number the fixture has written. */
  function isLiving(name: string): boolean {
    const pid = /child (\d+)/.exec(ended[name]!.stdout)?.[1];
    expect(pid).to.be.a('string');
    return existsSync(`/proc/${pid}`);
  }
});

/** A deadline that came before the first test had begun says nothing: then the machine is slow, and twice the time is given. */
async function runFixture(name: string, limitMs: number): Promise<Ended> {
  const folder = `${ROOT}test/fixtures/deadlines`;
  const args = [`${folder}/run.mjs`, `${folder}/${name}.ts`, String(limitMs)];
  const ended = await startProgram(process.execPath, args, process.env).ended;
  const isTooEarly = limitMs < LONG_LIMIT_MS && /was killed$/m.test(ended.stdout);
  return isTooEarly ? runFixture(name, 2 * limitMs) : ended;
}
