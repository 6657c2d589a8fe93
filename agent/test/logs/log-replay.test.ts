import type { AttemptKey, LogsFrame } from '@svc/contract';
import { expect } from 'chai';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog } from '../../src/core/log.js';
import type { AttemptLogs } from '../../src/logs/attempt-logs.js';
import { LogShipper } from '../../src/logs/log-shipper.js';
import { LogBook, until } from '../../testing/index.js';

const KIB = 1024;
const LINE = `${'x'.repeat(63)}\n`;
const LINES_PER_MIB = (KIB * KIB) / LINE.length;

const toKey = (job: number): AttemptKey => ({ job_id: `job_${job}`, attempt: 1 });

/** The shipper of an agent over real files, and a server that takes and acknowledges whatever it sends. */
class Node {
  readonly dir = mkdtempSync(path.join(os.tmpdir(), 'svc-replay-'));
  readonly book = new LogBook();
  readonly frames: LogsFrame[] = [];
  /** The agent's clock, in ms since the epoch. */
  now = Date.UTC(2026, 0, 1);
  readonly shipper: LogShipper;
  readonly #logs: AttemptLogs[] = [];

  constructor(replayBytesPerS?: number) {
    const socket = { send: (frame: LogsFrame) => this.#take(frame), room: () => Promise.resolve() };
    const log = createAgentLog({ write: () => {} });
    this.shipper = new LogShipper(socket, { now: () => this.now }, log, replayBytesPerS);
  }

  start(key: AttemptKey): AttemptLogs {
    const at = (name: string) => path.join(this.dir, `${key.job_id}-${name}`);
    const logs = this.shipper.add(key, { dir: this.dir, stdout: at('stdout'), stderr: at('stderr') });
    logs.watch();
    this.#logs.push(logs);
    return logs;
  }

  print(key: AttemptKey, text: string): void {
    appendFileSync(path.join(this.dir, `${key.job_id}-stdout`), text);
    this.shipper.managed.forEach(({ streams }) => streams.stdout.wake());
  }

  close(): void {
    this.shipper.close();
    rmSync(this.dir, { recursive: true, force: true });
  }

  #take(frame: LogsFrame): void {
    this.frames.push(frame);
    const position = this.book.take(frame);
    setImmediate(() => this.shipper.ack(position));
  }
}

describe('agent: replay of logs', () => {
  let node: Node;
  afterEach(() => node.close());

  it('sends what was there before the connection at the rate that it is given, and what comes then at once', async () => {
    node = new Node(512 * KIB);
    const [busy, calm] = [toKey(1), toKey(2)];
    node.start(busy);
    node.start(calm);
    node.print(busy, LINE.repeat(LINES_PER_MIB));
    const startedMs = performance.now();
    node.shipper.resume([]);
    node.print(calm, 'live\n');
    await until(() => node.book.lines(calm).length === 1, 'the live line');
    expect(node.book.lines(busy).length).to.be.below(LINES_PER_MIB / 2 + 1);
    await until(() => node.book.lines(busy).length === LINES_PER_MIB, 'the backlog');
    // 1 MiB in reads of a quarter: the first goes at once, the last 1.5 s later.
    expect(performance.now() - startedMs).to.be.above(1400);
    const behindMs = performance.now();
    node.print(busy, LINE.repeat(4 * LINES_PER_MIB));
    await until(() => node.book.lines(busy).length === 5 * LINES_PER_MIB, 'live output');
    expect(performance.now() - behindMs).to.be.below(7000);
  });

  it('lets every attempt have its turn', async () => {
    node = new Node(4 * KIB * KIB);
    const keys = [1, 2, 3, 4].map(toKey);
    const logs = keys.map((key) => node.start(key));
    for (const key of keys) node.print(key, LINE.repeat(LINES_PER_MIB));
    // One that begins later has its first turn later.
    await until(() => logs.every(({ hasBegun }) => hasBegun), 'the begin of every log');
    node.shipper.resume([]);
    await until(() => keys.every((key) => node.book.lines(key).length === LINES_PER_MIB), 'all backlogs');
    const order = node.frames.map(({ job_id }) => job_id);
    const firstDone = Math.min(...keys.map(({ job_id }) => order.lastIndexOf(job_id)));
    const shares = keys.map(
      ({ job_id }) => order.slice(0, firstDone + 1).filter((id) => id === job_id).length,
    );
    expect(Math.min(...shares)).to.be.at.least(Math.max(...shares) - 2);
  });

  it('is in order and whole while the clock of the host jumps back and forth', async () => {
    node = new Node();
    const key = toKey(1);
    const logs = node.start(key);
    node.shipper.resume([]);
    const printed: string[] = [];
    for (const jumpMs of [0, -3_600_000, 86_400_000, -86_400_000 * 365, 1, 3_600_000]) {
      node.now += jumpMs;
      printed.push(`after a jump of ${jumpMs}`);
      node.print(key, `${printed.at(-1)}\n`);
      await until(() => node.book.lines(key).length === printed.length, 'the line');
    }
    logs.finalize();
    await until(() => node.book.isComplete(key), 'the end');
    expect(node.book.lines(key)).to.deep.equal(printed);
    expect(node.book.refused(key)).to.equal(0);
    const times = node.frames.map(({ ts }) => ts);
    expect(times).not.to.deep.equal([...times].sort((a, b) => a - b));
  });
});
