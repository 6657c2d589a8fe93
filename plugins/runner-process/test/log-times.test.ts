import type { AttemptKey } from '@svc/contract';
import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { stat, writeFile } from 'node:fs/promises';
import { createHost, type Host } from './support/host.js';

/** The looks at a file are a second apart, and the machine may be under load. */
const TOLERANCE_MS = 2500;
const OUTAGE_MS = 7000;
/** Prints the time in ms whenever it is told to. */
const PRINT_TIMES =
  'while [ ! -e stop ]; do if [ -e print ]; then rm print; date +%s%3N; fi; sleep 0.02; done';

describe('process runner: the times of log lines', function () {
  this.timeout(60_000);
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent({ timing: { stableMs: 0 } });
  });
  afterEach(() => host.close());

  const printTime = async (key: AttemptKey, count: number) => {
    await writeFile(host.file(key, 'work/print'), '');
    await until(async () => (await stat(host.file(key, 'stdout'))).size >= count * 14, `${count} lines`);
  };
  /** Each line that was sent, with the time when it was printed, which is its text, and the one that was sent with it. */
  const linesOf = () =>
    host.server
      .all('logs')
      .flatMap(({ ts, lines }) => lines.map((text) => ({ printedAt: Number(text), ts })));
  async function startPrinting(): Promise<AttemptKey> {
    const key = host.sh(PRINT_TIMES);
    await host.server.running(key);
    return key;
  }
  async function expectTimes(key: AttemptKey, count: number): Promise<void> {
    await until(() => host.server.logs.lines(key).length === count, 'all lines');
    for (const { printedAt, ts } of linesOf()) expect(ts - printedAt).to.be.within(-50, TOLERANCE_MS);
  }

  it('are those when they were written, also after an outage of the server', async () => {
    const key = await startPrinting();
    await printTime(key, 1);
    await until(() => host.server.logs.lines(key).length === 1, 'the first line');
    host.server.silent = true;
    host.server.cut();
    await printTime(key, 2);
    const awayAt = Date.now();
    await until(() => Date.now() > awayAt + OUTAGE_MS / 2, 'half of the outage');
    await printTime(key, 3);
    await until(() => Date.now() > awayAt + OUTAGE_MS, 'the outage');
    host.server.answerHello();
    await expectTimes(key, 3);
  });

  it('are at the latest that of the last write, when they were written while no agent was there', async () => {
    const key = await startPrinting();
    await printTime(key, 1);
    await until(() => host.server.logs.lines(key).length === 1, 'the first line');
    await host.closeAgent();
    await printTime(key, 2);
    const writtenAt = Date.now();
    await until(() => Date.now() > writtenAt + OUTAGE_MS, 'the time without an agent');
    await host.startAgent();
    await expectTimes(key, 2);
  });
});
