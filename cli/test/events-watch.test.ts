import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { EventDraft, EventRecord } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { createCuttingProxy } from '../../test/faults/cutting-proxy.js';
import { runHere, startSvc } from './support/svc.js';

type Watch = ReturnType<typeof startSvc>;

/** Notes what it was given as a line of JSON; then does what `more` says. */
const hook = (log: string, more = ''): string => `
  import { appendFileSync, readFileSync } from 'node:fs';
  const event = JSON.parse(readFileSync(0, 'utf8'));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('SVC_EVENT_')));
  const note = (word) => appendFileSync(${JSON.stringify(log)}, JSON.stringify({ word, event, env, at: Date.now() }) + '\\n');
  note('begin');
  ${more}
`;

interface Note {
  readonly word: string;
  readonly event: EventRecord;
  readonly env: Readonly<Record<string, string>>;
  readonly at: number;
}

describe('svc events watch --exec', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let dir: string;
  let log: string;
  let watches: Watch[] = [];

  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-watch-'));
    log = path.join(dir, 'log');
    kernel = await createTestKernel({ plugins: [events()] });
  });
  afterEach(async () => {
    for (const { program, ended } of watches) {
      program.kill('SIGTERM');
      await ended;
    }
    watches = [];
    await kernel.close();
    rmSync(dir, { recursive: true });
  });

  async function happen(...drafts: Partial<EventDraft>[]): Promise<EventRecord[]> {
    const { append } = kernel.use(eventsRef);
    return kernel.ctx.transaction(async (tx) => {
      const records: EventRecord[] = [];
      for (const draft of drafts) records.push(await append(tx, { type: 'T', title: 't', ...draft }));
      return records;
    });
  }
  const notes = (): Note[] =>
    readFileSync(log, { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Note);
  const titles = (word = 'begin') =>
    notes().flatMap((note) => (note.word === word ? [note.event.title] : []));
  function start(args: readonly string[], more = '', url = kernel.url): Watch {
    const script = path.join(dir, 'hook.mjs');
    writeFileSync(script, hook(log, more));
    const command = args.includes('--exec') ? args : [...args, '--exec', process.execPath, script];
    const watch = startSvc(['events', 'watch', ...command], {
      HOME: dir,
      SVC_URL: url,
      SVC_TOKEN: 'read',
      SVC_EVENT_RUN_ID: 'inherited',
    });
    watches.push(watch);
    return watch;
  }
  /** Until it has asked for the last event, so that it shows everything after that. */
  async function ready(): Promise<void> {
    await until(
      async () => {
        await happen({ title: 'start' });
        return titles().includes('start');
      },
      { timeoutMs: 30_000 },
    );
  }

  it('gives the fields of the event in variables, and the whole event on standard input', async () => {
    start([]);
    await ready();
    const data = { loss: 'NaN', nested: ['ä'] };
    const title = 'a $(touch x) "b"\nc';
    const [event] = await happen({ type: 'OOM', severity: 'critical', title, message: 'ö', data });
    await until(() => titles().includes(title));
    const last = notes().at(-1);
    expect(last?.event).to.deep.equal(event);
    expect(last?.env).to.deep.equal({
      SVC_EVENT_ID: event?.id,
      SVC_EVENT_TYPE: 'OOM',
      SVC_EVENT_SEVERITY: 'critical',
      SVC_EVENT_TITLE: title,
      SVC_EVENT_MESSAGE: 'ö',
      SVC_EVENT_RUN_ID: '',
      SVC_EVENT_JOB_ID: '',
      SVC_EVENT_NODE_ID: '',
      SVC_EVENT_CREATED_AT: String(event?.created_at),
      SVC_EVENT_DATA: JSON.stringify(data),
    });
  });

  it('gives the largest event too, its data on the standard input alone', async () => {
    start([]);
    await ready();
    const [event] = await happen({
      title: 'large',
      message: 'ä'.repeat(20_000),
      data: { x: 'x'.repeat(200_000) },
    });
    await until(() => titles().includes('large'));
    const last = notes().at(-1);
    expect(last?.event).to.deep.equal(event);
    expect(last?.env).to.include({ SVC_EVENT_MESSAGE: 'ä'.repeat(20_000), SVC_EVENT_DATA: '' });
  });

  it('runs one program after another, in the order of the events', async () => {
    start([], `await new Promise((resolve) => setTimeout(resolve, 30)); note('end');`);
    await ready();
    await happen(...Array.from({ length: 8 }, (_, index) => ({ title: `e${index}` })));
    await until(() => titles('end').includes('e7'));
    const order = notes().map(({ word, event }) => `${word} ${event.title}`);
    const wanted = Array.from({ length: 8 }, (_, index) => [`begin e${index}`, `end e${index}`]).flat();
    expect(order.slice(order.indexOf('begin e0'))).to.deep.equal(wanted);
  });

  it('runs as many at the same time as --jobs says, and no more', async () => {
    const gate = path.join(dir, 'gate');
    start(
      ['--jobs', '3'],
      `if (event.title !== 'start') {
         const { existsSync } = await import('node:fs');
         while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 10));
       }
       note('end');`,
    );
    await ready();
    await happen(...Array.from({ length: 7 }, (_, index) => ({ title: `e${index}` })));
    const begun = () => titles().filter((title) => title !== 'start');
    await until(() => begun().length === 3);
    expect(titles('end').filter((title) => title !== 'start')).to.deep.equal([]);
    writeFileSync(gate, '');
    await until(() => titles('end').filter((title) => title !== 'start').length === 7);
    expect(begun().toSorted()).to.deep.equal(Array.from({ length: 7 }, (_, index) => `e${index}`));
  });

  it('ends a program that takes too long, with what it has started, and goes on', async () => {
    const pids = path.join(dir, 'pids');
    const { written } = start(
      ['--timeout', '1'],
      `if (event.title === 'slow') {
         const { spawn } = await import('node:child_process');
         const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'inherit' });
         appendFileSync(${JSON.stringify(pids)}, process.pid + ' ' + child.pid);
         await new Promise(() => setInterval(() => {}, 1000));
       }`,
    );
    await ready();
    const [slow] = await happen({ title: 'slow' }, { title: 'next' });
    await until(() => titles().includes('next'), { timeoutMs: 20_000 });
    expect(written.stderr).to.contain(`node was ended after 1 s for ${slow?.id}\n`);
    const started = readFileSync(pids, 'utf8').split(' ').map(Number);
    await until(() => started.every((pid) => !isAlive(pid)));
  });

  it('survives a program that fails, is killed, or is no longer there', async () => {
    const program = path.join(dir, 'notify');
    writeFileSync(
      program,
      `#!/bin/sh\necho "$SVC_EVENT_TITLE" >> ${log}.sh\n[ "$SVC_EVENT_TITLE" != bad ]\n`,
      {
        mode: 0o755,
      },
    );
    const { written } = start(['--exec', program]);
    const said = () => readFileSync(`${log}.sh`, { encoding: 'utf8', flag: 'a+' });
    await until(
      async () => {
        await happen({ title: 'start' });
        return said() !== '';
      },
      { timeoutMs: 30_000 },
    );
    const [bad] = await happen({ title: 'bad' });
    await until(() => written.stderr.includes(`notify ended with exit code 1 for ${bad?.id}\n`));
    rmSync(program);
    const [gone] = await happen({ title: 'gone' });
    await until(() => written.stderr.includes(`notify cannot be started for ${gone?.id}: `));
    writeFileSync(program, `#!/bin/sh\necho "$SVC_EVENT_TITLE" >> ${log}.sh\nkill -9 $$\n`, { mode: 0o755 });
    const [killed] = await happen({ title: 'back' });
    await until(() => written.stderr.includes(`notify ended with SIGKILL for ${killed?.id}\n`));
    expect(said()).to.match(/bad\nback\n$/);
  });

  it('uses a shell when it is asked to, and then alone', async () => {
    const out = path.join(dir, 'out');
    start(['--shell', '--exec', `echo "$SVC_EVENT_TITLE|$1" >> ${out}`, 'a b']);
    await until(
      async () => {
        await happen({ title: '$(id) `id`' });
        return readFileSync(out, { encoding: 'utf8', flag: 'a+' }) !== '';
      },
      { timeoutMs: 30_000 },
    );
    expect(readFileSync(out, 'utf8').split('\n')[0]).to.equal('$(id) `id`|a b');
  });

  it('reconnects and goes on behind the last event, with none lost and none twice', async () => {
    const proxy = await createCuttingProxy(Number(new URL(kernel.url).port));
    try {
      start(['--jobs', '4'], '', proxy.url);
      await ready();
      for (let round = 0; round < 5; round += 1) {
        await happen(...Array.from({ length: 5 }, (_, index) => ({ title: `${round} ${index}` })));
        proxy.cut('reset', 'all');
        await happen({ title: `${round} cut` });
      }
      const told = () => titles().filter((title) => title !== 'start');
      await until(() => told().length >= 30, { timeoutMs: 30_000 });
      await happen({ title: 'last' });
      await until(() => told().includes('last'), { timeoutMs: 30_000 });
      expect(new Set(told()).size).to.equal(31);
      expect(told()).to.have.length(31);
    } finally {
      await proxy.close();
    }
  });

  it('ends at SIGTERM with the programs that run', async () => {
    const watch = start([], `note('pid ' + process.pid); setInterval(() => {}, 1000);`);
    await until(
      async () => {
        await happen({});
        return notes().some(({ word }) => word.startsWith('pid'));
      },
      { timeoutMs: 30_000 },
    );
    const pid = Number(notes().at(-1)?.word.slice(4));
    watch.program.kill('SIGTERM');
    expect((await watch.ended).status).to.equal(0);
    expect(isAlive(pid)).to.equal(false);
  });

  it('refuses options that do not go together', async () => {
    const env = { HOME: dir, SVC_URL: kernel.url, SVC_TOKEN: 'read' };
    for (const args of [
      ['--jobs', '2'],
      ['--shell'],
      ['--timeout', '5'],
      ['--exec'],
      ['--jobs', '0', '--exec', 'true'],
    ])
      expect((await runHere(['events', 'watch', ...args], env)).status, args.join(' ')).to.equal(2);
  });
});

function isAlive(pid: number): boolean {
  try {
    // A zombie is over.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
