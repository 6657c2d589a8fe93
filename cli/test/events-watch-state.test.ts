import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { runHere, startSvc } from './support/svc.js';

type Watch = ReturnType<typeof startSvc>;

/** Notes the title when it begins and when it is done; between them it waits for the file `gate`, if its title begins with "slow". */
const hook = (log: string, gate: string): string => `
  import { appendFileSync, existsSync, readFileSync } from 'node:fs';
  const { title } = JSON.parse(readFileSync(0, 'utf8'));
  const note = (word) => appendFileSync(${JSON.stringify(log)}, word + ' ' + title + '\\n');
  note('begin');
  while (title.startsWith('slow') && !existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 10));
  note('end');
`;

describe('svc events watch --state', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let dir: string;
  let state: string;
  let gate: string;
  let watch: Watch | undefined;

  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-watch-state-'));
    state = path.join(dir, 'state');
    gate = path.join(dir, 'gate');
    writeFileSync(path.join(dir, 'hook.mjs'), hook(path.join(dir, 'log'), gate));
    kernel = await createTestKernel({ plugins: [events()] });
  });
  afterEach(async () => {
    writeFileSync(gate, '');
    await end('SIGTERM');
    await kernel.close();
    rmSync(dir, { recursive: true });
  });

  const env = () => ({ HOME: dir, SVC_URL: kernel.url, SVC_TOKEN: 'read' });
  /** Titles by the ids of their events. */
  const ids = new Map<string, string>();
  async function happen(...titles: readonly string[]): Promise<void> {
    const { append } = kernel.use(eventsRef);
    for (const title of titles) {
      const { id } = await kernel.ctx.transaction((tx) => append(tx, { type: 'T', title }));
      ids.set(title, id);
    }
  }
  const noted = (word: string): string[] =>
    readFileSync(path.join(dir, 'log'), { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const remembered = () =>
    JSON.parse(readFileSync(state, 'utf8')) as { after: string; handled: readonly string[] };
  const isHandled = (title: string): boolean => {
    const { after, handled } = remembered();
    return (ids.get(title) ?? '') <= after || handled.includes(ids.get(title) ?? '');
  };
  /** Resolves when it remembers where it is, from which on it leaves out nothing. */
  async function start(...options: readonly string[]): Promise<void> {
    const script = path.join(dir, 'hook.mjs');
    const args = ['events', 'watch', '--state', state, ...options, '--exec', process.execPath, script];
    watch = startSvc(args, env());
    await until(() => statSync(state, { throwIfNoEntry: false }));
  }
  /** Not its close: a program that it has started may hold its output. */
  async function end(signal: NodeJS.Signals): Promise<void> {
    const { program } = watch ?? {};
    watch = undefined;
    if (!program || program.exitCode !== null || program.signalCode !== null) return;
    const exited = once(program, 'exit');
    program.kill(signal);
    await exited;
  }

  it('goes on after kill -9 with nothing lost, and nothing twice but what was in work', async () => {
    const titles = Array.from({ length: 60 }, (_, index) => `e${index}`);
    const unhandled = new Set<string>();
    await start('--jobs', '2');
    for (let kill = 0; kill < 3; kill += 1) {
      const before = noted('end').length;
      const news = titles.slice(kill * 20, kill * 20 + 20);
      await happen(...news);
      await until(() => noted('end').length >= before + 5);
      await end('SIGKILL');
      // What has just begun may not have noted it yet.
      for (const title of news) if (!isHandled(title)) unhandled.add(title);
      await start('--jobs', '2');
    }
    await until(() => titles.every((title) => noted('end').includes(title) && isHandled(title)));
    const twice = noted('begin').filter((title, at, all) => all.indexOf(title) !== at);
    expect([...unhandled]).to.include.members(twice);
    expect(twice.length).to.be.at.most(3 * 2);
  });

  it('does not go on behind an event that is not handled, and repeats none that was handled after it', async () => {
    await start('--jobs', '3');
    await happen('first', 'slow', 'e1', 'e2', 'e3');
    await until(() => ['first', 'e1', 'e2', 'e3'].every(isHandled));
    expect(remembered()).to.deep.equal({
      after: ids.get('first'),
      handled: ['e1', 'e2', 'e3'].map((title) => ids.get(title)),
    });
    await end('SIGKILL');
    writeFileSync(gate, '');
    await until(() => noted('end').includes('slow'));
    await happen('last');
    await start('--jobs', '3');
    await until(() => isHandled('slow') && isHandled('last'));
    expect(noted('begin').toSorted()).to.deep.equal(['e1', 'e2', 'e3', 'first', 'last', 'slow', 'slow']);
    expect(remembered()).to.deep.equal({ after: ids.get('last'), handled: [] });
  });

  it('gives what a stop has ended a program again', async () => {
    await start();
    await happen('slow', 'next');
    await until(() => noted('begin').includes('slow'));
    await end('SIGTERM');
    expect(noted('end')).to.deep.equal([]);
    writeFileSync(gate, '');
    await start();
    await until(() => isHandled('next'));
    expect(noted('end')).to.deep.equal(['slow', 'next']);
  });

  it('prints each event once over a restart too', async () => {
    const printed: string[] = [];
    for (const titles of [
      ['a', 'b'],
      ['c', 'd'],
    ]) {
      await happen(titles[0] ?? '');
      watch = startSvc(['events', 'watch', '--json', '--state', state], env());
      const { ended } = watch;
      if (printed.length === 0) await until(() => statSync(state, { throwIfNoEntry: false }));
      await happen(titles[1] ?? '');
      await until(() => isHandled(titles[1] ?? ''));
      await end('SIGKILL');
      printed.push((await ended).stdout);
    }
    const shown = printed.join('').trim().split('\n');
    expect(shown.map((line) => (JSON.parse(line) as { title: string }).title)).to.deep.equal(['b', 'c', 'd']);
  });

  it('has a file that no other user can read, and that one watch uses at a time', async () => {
    await start();
    expect(statSync(state).mode & 0o777).to.equal(0o600);
    const { status, stderr } = await runHere(['events', 'watch', '--state', state], env());
    expect([status, stderr]).to.deep.equal([1, `svc: another svc events watch uses ${state}\n`]);
  });

  it('refuses a file that is another one, and one that cannot be written', async () => {
    writeFileSync(state, '{"after":"evt_1","handled":[]}');
    const other = await runHere(['events', 'watch', '--state', state], env());
    expect([other.status, other.stderr]).to.deep.equal([
      1,
      `svc: ${state} is no file that --state has written: name another one\n`,
    ]);
    const nowhere = await runHere(['events', 'watch', '--state', path.join(dir, 'no/such/state')], env());
    expect(nowhere.status).to.equal(1);
    expect(nowhere.stderr).to.contain('no/such/state: ENOENT');
  });
});
