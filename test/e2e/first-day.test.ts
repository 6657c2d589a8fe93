import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createClient, type Client } from '@svc/client';
import { routes, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import {
  createNamespace,
  createRepository,
  freePort,
  Newcomer,
  type Namespace,
} from '../support/newcomer.js';
import { readBlocks, type Block } from '../support/page.js';
import { killMarked } from '../support/processes.js';
import type { Program } from '../support/program.js';
import { untilPrinted } from '../support/workplace.js';

const PATIENCE_MS = 60_000;
const PROJECT = 'my-training';
/** Blocks that are not typed here, and why. */
const ELSEWHERE: readonly (readonly [start: string, reason: string])[] = [
  ['SVC_ALLOWED_HOSTS', 'test/integration/docs-permanent.test.ts'],
  ['train.example.org {', 'test/integration/docs-permanent.test.ts'],
  ['map $http_upgrade', 'test/integration/docs-permanent.test.ts'],
  ['[Unit]', 'test/integration/docs-systemd.test.ts'],
  ['sudo ', 'test/integration/docs-systemd.test.ts'],
  ['umask 022', 'test/integration/docs-systemd.test.ts'],
  ['(\n  umask 077\n  sudo', 'test/integration/docs-systemd.test.ts'],
];

describe('the first day: docs/start.md, typed by a new user account', function () {
  this.timeout(2 * PATIENCE_MS);
  this.bail(true);
  const left = new Set(readBlocks('docs/start.md'));
  let dir: string;
  let python: string;
  let replacements: Record<string, string>;
  let me: Newcomer;
  let server: Program;
  let client: Client;
  let link: string;
  let namespace: Namespace | null = null;
  let second: Newcomer | null = null;

  before(async function () {
    python = requireEngine(this, 'torch');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-first-day-'));
    chmodSync(dir, 0o755);
    const port = await freePort();
    replacements = {
      REPOSITORY: createRepository(dir),
      ':8600': `:${port}`,
      // The environment sees the PyTorch that is installed here, so pip finds it and fetches nothing.
      'venv .venv': 'venv --system-site-packages .venv',
      'BACKUP-HOST:svc': path.join(dir, 'first', 'backup-host'),
    };
    const env = { SVC_PORT: String(port), PIP_NO_INDEX: '1', PIP_CONFIG_FILE: os.devNull };
    me = new Newcomer({ home: path.join(dir, 'first'), python, replacements, env });
  });
  after(async () => {
    for (const program of [...(second?.programs ?? []), ...(me?.programs ?? [])])
      if (program.isRunning) process.kill(-program.pid, 'SIGTERM');
    for (const home of ['first', 'second']) killMarked('HOME', path.join(dir ?? '', home));
    namespace?.remove();
    if (dir) await until(() => (rmSync(dir, { recursive: true, force: true }), true));
  });

  /** The next block of the page that begins with this; each is typed once. */
  function take(start: string): Block {
    const found = [...left].find(({ text }) => text.startsWith(start));
    if (found === undefined)
      throw new Error(`docs/start.md has no block (any more) that begins with ${start}`);
    left.delete(found);
    return found;
  }

  function save(file: string): void {
    const block = [...left].find((one) => one.file === file);
    if (block === undefined) throw new Error(`docs/start.md shows no file ${file}`);
    left.delete(block);
    me.write(`${PROJECT}/${file}`, block.text);
  }

  /** Where the page says clone, the dependencies appear before what follows. */
  async function clone(person: Newcomer, lines: string): Promise<string> {
    const [first = '', second = '', ...rest] = lines.split('\n');
    await person.type(first);
    person.provideDependencies('svc');
    expect(second).to.equal('cd svc');
    return rest.join('\n');
  }

  async function untilUp(program: Program): Promise<void> {
    const url = await untilPrinted(program, /^server +(http:\S+),/m, 'stdout', PATIENCE_MS);
    link = await untilPrinted(program, /^(http:\S+\/#signin=\S+)$/m);
    client = createClient({ url, token: readFileSync(me.at('.svc', 'token'), 'utf8').trim() });
  }

  const findRun = async (name: string): Promise<Run | undefined> =>
    (await client.call(routes.listRuns, { query: { q: name } })).items.find((run) => run.name === name);

  async function findCheckpoints(run_id: string): Promise<string[]> {
    const { items } = await client.call(routes.listRunCheckpoints, { params: { run_id } });
    return items.map(({ path: file }) => file);
  }

  /** Its points grow while its training goes on. */
  async function seeGrow(name: string, follower: Program): Promise<Run> {
    const stepOf = async (beyond: number) => {
      const run = await findRun(name);
      if (!follower.isRunning) throw new Error(`it has ended:\n${follower.stdout}\n${follower.stderr}`);
      return run?.status === 'RUNNING' && (run.step ?? 0) > beyond ? run : null;
    };
    const early = (await until(() => stepOf(0), { timeoutMs: PATIENCE_MS }))!;
    return (await until(() => stepOf(early.step ?? 0), { timeoutMs: PATIENCE_MS }))!;
  }

  async function expectDone(name: string, follower: Program, steps: number): Promise<Run> {
    const { status, stderr } = await follower.ended;
    expect(status, stderr).to.equal(0);
    const run = await until(async () => {
      const found = await findRun(name);
      return found?.status === 'SUCCEEDED' ? found : null;
    });
    expect(run).to.include({ step: steps, max_steps: steps });
    return run!;
  }

  it('installs svc, which runs the example, and puts it on the PATH as README.md does', async () => {
    const [readme] = readBlocks('README.md');
    const [start, ...onPath] = readme!.text.trimEnd().split('\n');
    const rest = await clone(me, take('git clone').text);
    expect(rest.trimEnd()).to.equal(start);
    server = me.start(rest, 'svc');
    await untilUp(server);
    const lines = take('npm config set prefix').text;
    expect(lines.trimEnd().split('\n')).to.deep.equal([...onPath, 'svc jobs']);
    const { stdout } = await me.type(lines, 'svc');
    expect(stdout).to.match(/RUNNING|SUCCEEDED|QUEUED/);
  });

  it('sees the curve of a first training grow, in the terminal and in the console', async function () {
    save('train.py');
    const follower = me.start(take('svc submit --follow python3 train.py').text, PROJECT);
    const { id } = await seeGrow('train.py', follower);
    await lookAtConsole(requireEngine(this, 'chromium'), id);
    const { stdout } = await me.type(take('svc run ').text, PROJECT);
    expect(stdout)
      .to.match(/^train\.py +RUNNING/m)
      .and.match(/^train\/loss .*[▁▂▃▄▅▆▇█]/m);
    expect(stdout)
      .to.match(/^step 600: slope/m)
      .and.match(/SUCCEEDED/);
    await expectDone('train.py', follower, 600);
  });

  async function lookAtConsole(chromium: string, runId: string): Promise<void> {
    let browser: Browser | null = null;
    try {
      browser = await launchBrowser(chromium);
      const page: Page = await browser.newPage();
      await page.goto(link);
      await page.getByRole('link', { name: 'Runs' }).first().click();
      // By its address: the job, which is still shown for a moment, has the same name.
      await page.locator(`a.name[href="/runs/${runId}"]`).click();
      await page.waitForURL(`**/runs/${runId}`);
      const chart = page
        .locator('svc-chart')
        .filter({ has: page.getByRole('heading', { name: 'train/loss', exact: true }) });
      const describe = () => chart.locator('figure').getAttribute('aria-label');
      const early = await describe();
      await until(async () => (await describe()) !== early, { timeoutMs: PATIENCE_MS });
    } finally {
      await browser?.close();
    }
  }

  it('runs a PyTorch script in a virtual environment', async () => {
    save('train_torch.py');
    const installed = await me.type(take('python3 -m venv').text, PROJECT);
    expect(installed.stdout).to.match(/^Requirement already satisfied: torch/m);
    const lines = `. .venv/bin/activate\n${take('svc submit --follow --name sine').text}`;
    const follower = me.start(lines, PROJECT);
    await seeGrow('sine', follower);
    const run = await expectDone('sine', follower, 10_000);
    expect(await findCheckpoints(run.id)).to.deep.equal([me.at(PROJECT, 'model.pt')]);
    expect(follower.stderr).to.contain(me.at(PROJECT, '.venv'));
  });

  describe('with a second host, in a network namespace of its own', () => {
    let agent: Program;
    before(function () {
      namespace = createNamespace(requireEngine(this, 'netns'));
      replacements['SERVER'] = namespace.address;
      second = new Newcomer({
        home: path.join(dir, 'second'),
        python,
        namespace: namespace.name,
        replacements,
      });
    });

    it('connects its agent', async () => {
      await me.interrupt(server);
      server = me.start(take('export PATH').text, 'svc');
      await untilUp(server);
      await me.type(take('(\n  umask 077\n  svc').text);
      for (const file of ['agent-token', 'my-token']) me.copy(file, second!);
      await me.type(take('rm ').text);
      await second!.type(await clone(second!, take('git clone').text), 'svc');
      agent = second!.start(take('svc agent').text);
      await untilPrinted(agent, /(connected)/, 'stderr');
    });

    it('runs the PyTorch script there from an upload', async () => {
      const follower = me.start(take('svc nodes').text, PROJECT);
      await seeGrow('sine-uploaded', follower);
      const { id, job_id } = await expectDone('sine-uploaded', follower, 10_000);
      const job = await client.call(routes.getJob, { params: { job_id: job_id ?? '' } });
      const { items } = await client.call(routes.listNodes);
      expect(items.find(({ id }) => id === job.node_id)?.labels).to.deep.include({ site: 'second' });
      expect(items).to.have.length(2);
      expect(follower.stdout).to.match(/^step 10000 of 10000/m);
      const work = second!.at('.svc', 'jobs', job.id, `attempt-${job.attempt}`, 'work');
      expect(await findCheckpoints(id)).to.deep.equal([path.join(work, 'model.pt')]);
    });

    it('submits from there too', async () => {
      second!.write(`${PROJECT}/train.py`, readFileSync(me.at(PROJECT, 'train.py'), 'utf8'));
      expect((await second!.type(take('svc login').text)).stdout).to.match(/^me: scope write/m);
      const follower = second!.start(take('svc submit --upload --follow --name from').text, PROJECT);
      await expectDone('from-second', follower, 600);
    });
  });

  describe('in the end', () => {
    it('backs up, and copies the backup to another host, here a directory', async function () {
      requireEngine(this, 'rsync');
      const { stdout } = await me.type(take('svc backup\n').text);
      const [backup = ''] = readdirSync(me.at('.svc', 'backups'));
      expect(stdout).to.contain(me.at('.svc', 'backups', backup));
      const copied = readdirSync(me.at('backup-host', backup));
      expect(copied).to.deep.equal(readdirSync(me.at('.svc', 'backups', backup)));
    });

    it('has typed every block of the page', function () {
      for (const [start] of ELSEWHERE)
        while ([...left].some(({ text }) => text.startsWith(start))) take(start);
      if (second === null) this.skip();
      expect([...left].map(({ text }) => text)).to.deep.equal([]);
    });
  });
});
