import type { AgentFrame, AttemptKey, FrameOf } from '@svc/contract';
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog } from '../../src/core/log.js';
import { LogShipper } from '../../src/logs/log-shipper.js';
import { LogBook, until } from '../../testing/index.js';

type PartialFrame = FrameOf<AgentFrame, 'partial'>;

const KEY: AttemptKey = { job_id: 'job_1', attempt: 1 };
const LOOKED_MS = 3_600;

/** Writes as fast as it can: `print` is given the number of what it prints. */
const writer = (print: string) => `
  const { writeSync } = require('node:fs');
  const until = Date.now() + ${LOOKED_MS};
  for (let at = 0; Date.now() < until; at += 1) {
    ${print};
  }`;

describe('agent: the line that has no end yet', () => {
  let dir: string;
  let shipper: LogShipper;
  let program: ChildProcess | null = null;
  let beforeRead: () => void;
  const partials: PartialFrame[] = [];
  const times: number[] = [];

  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-partial-'));
    partials.length = times.length = 0;
    beforeRead = () => undefined;
    const book = new LogBook();
    const send = (frame: AgentFrame): void => {
      if (frame.type === 'logs') {
        const position = book.take(frame);
        setImmediate(() => shipper.ack(position));
      } else if (frame.type === 'partial') {
        partials.push(frame);
        times.push(performance.now());
      }
    };
    const socket = { send, room: () => Promise.resolve(beforeRead()) };
    shipper = new LogShipper(socket, { now: () => Date.now() }, createAgentLog({ write: () => {} }));
  });
  afterEach(() => {
    program?.kill('SIGKILL');
    shipper.close();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Ships what is written to the file that it resolves with. */
  function ship(): string {
    const [stdout, stderr] = [path.join(dir, 'stdout'), path.join(dir, 'stderr')];
    shipper.add(KEY, { dir, stdout, stderr }).watch();
    shipper.resume([]);
    return stdout;
  }

  /** A program whose output is the log. */
  async function run(print: string): Promise<void> {
    const stdout = ship();
    const file = openSync(stdout, 'a');
    program = spawn(process.execPath, ['-e', writer(print)], { stdio: ['ignore', file, 'ignore'] });
    closeSync(file);
    await once(program, 'exit');
  }

  it('is shown once a second while no read comes without new bytes', async () => {
    let at = 0;
    const file = path.join(dir, 'stdout');
    beforeRead = () => appendFileSync(file, `\r${(at += 1)} of many`);
    ship();
    await until(() => partials.length >= 3, 'the changes');
    expect(times.slice(1).every((time, index) => time - times[index]! >= 990)).to.equal(true);
    expect(partials.every(({ text }) => /^\d+ of many$/.test(text))).to.equal(true);
  });

  it('is not shown of a program that writes whole lines in pieces', async () => {
    await run('writeSync(1, `line `); writeSync(1, `${at}\\n`)');
    expect(partials).to.deep.equal([]);
  });
});
