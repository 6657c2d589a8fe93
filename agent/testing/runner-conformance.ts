import type { AttemptKey, Exit } from '@svc/contract';
import { until } from '@svc/hooks/testing';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TOKEN } from './fake-server.js';
import { isCommandAlive } from './processes.js';
import { TestHost, type TestHostOptions } from './test-host.js';

export interface RunnerUnderTest extends TestHostOptions {
  /** Its name, as a job gives it. */
  readonly runner: string;
  /** `SVC_URL` of its jobs is another address than this host has for the server, as in a container. */
  readonly hasOwnUrl?: boolean;
}

const TEST_TIMEOUT_MS = 60_000;
const GRACE_MS = 20_000;
const SIGTERM: Exit = { kind: 'signaled', signal: 'SIGTERM', code: -15 };
const SIGKILL: Exit = { kind: 'signaled', signal: 'SIGKILL', code: -9 };
const SECRET = 'a-secret-of-the-job';

const exited = (code: number): Exit => ({ kind: 'exited', code });
/** A command that runs for an hour, and that no other process has. */
const createSleep = () => `sleep 3600.${randomInt(1e9)}`;
const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}`);

/**
 * What the agent half of every runner must do, as mocha tests in a real agent, which is killed and started again: call it in a test file.
 * Where the runner runs commands there must be a POSIX shell with `env`, `printf`, `seq`, `setsid` and `sleep`. A command must start in the
 * attempt's `work` directory, and this host must see its processes in /proc.
 */
export function runnerConformance(runner: RunnerUnderTest): void {
  describe(`runner ${runner.runner}: conformance`, function () {
    this.timeout(TEST_TIMEOUT_MS);
    let host: TestHost;
    beforeEach(async () => {
      host = await TestHost.create(runner);
      await host.startAgent();
    });
    afterEach(() => host.close());

    const lines = (key: AttemptKey) => host.server.logs.lines(key);
    const exitOf = async (key: AttemptKey) => (await host.server.ended(key)).exit;
    const untilPrinted = (key: AttemptKey, count: number, by = host) =>
      until(() => by.server.logs.lines(key).length >= count, `${count} lines of output`);
    /** Runs it, and resolves when it runs indeed. */
    const startSleep = async (command: string, on = host) => {
      const key = on.sh(`echo ready; exec ${command}`);
      await untilPrinted(key, 1, on);
      return key;
    };
    const createFile = (key: AttemptKey, name: string) =>
      writeFile(path.join(host.file(key, 'work'), name), '');

    it('says at once that it can run here', async () => {
      const { runners } = await host.server.frame('hello');
      const probe = runners.find(({ name }) => name === runner.runner);
      const told = [probe?.available, probe?.reason];
      assert.deepEqual(told, [true, null], 'fingerprint() must yield at once, as available');
    });

    it('starts a command once, which is told as accepted, running and ended', async () => {
      const key = host.sh('echo started');
      const { exit, started_at, finished_at } = await host.server.ended(key);
      assert.deepEqual(exit, exited(0));
      assert.ok(
        (started_at ?? Infinity) <= (finished_at ?? 0),
        'Run.startedAt must be the time of the start',
      );
      assert.deepEqual(lines(key), ['started'], 'start() must run the command once');
      const told = host.server.frames.flatMap((frame) =>
        frame.type === 'attempt' ? [frame.state] : frame.type === 'accepted' ? [frame.type] : [],
      );
      assert.deepEqual(told, ['accepted', 'running', 'ended']);
    });

    it('passes arguments as they are', async () => {
      const key = host.run(['printf', '%s\\n', '$HOME', '`id`', 'a b', "'", '']);
      await host.server.ended(key);
      assert.deepEqual(lines(key), ['$HOME', '`id`', 'a b', "'", ''], 'no shell may read the arguments');
    });

    it('tells the exit code of each of several attempts that run at once', async () => {
      const keys = [0, 1, 2, 77, 255].map((code) => host.sh(`exit ${code}`));
      assert.deepEqual(await Promise.all(keys.map(exitOf)), [0, 1, 2, 77, 255].map(exited));
    });

    it('tells a signal by its name and its negative number', async () => {
      assert.deepEqual(await exitOf(host.sh('kill -KILL $$')), SIGKILL);
    });

    it('says why a command cannot be started, and starts the next', async () => {
      const exit = await exitOf(host.run(['no-such-program-here']));
      assert.equal(exit?.kind, 'dispatch_failed', 'start() must reject when nothing was started');
      for (const part of ['no-such-program-here', 'node-1'])
        assert.ok(exit.message.includes(part), `"${exit.message}" must say what is missing and where`);
      assert.deepEqual(await exitOf(host.sh('exit 3')), exited(3));
    });

    it('starts nothing when its state cannot be saved', async () => {
      host.server.starts = false;
      const command = createSleep();
      const key = host.sh(`echo started; exec ${command}`);
      await host.server.frame('accepted');
      await mkdir(host.file(key, 'state.json'));
      host.server.send({ type: 'start', ...key });
      const exit = await exitOf(key);
      assert.equal(exit?.kind, 'dispatch_failed', 'start() must reject when ctx.save() rejects');
      const message = 'the command must not start before ctx.save() has resolved';
      assert.equal(await isCommandAlive(command), false, message);
      assert.deepEqual(lines(key), [], message);
    });

    it('has both outputs appended to the files of the attempt, whole and in order', async () => {
      const key = host.sh('seq 1 5000; printf "no newline"; echo aside >&2');
      await host.server.ended(key);
      const written = 'all output must be in ctx.paths.stdout and ctx.paths.stderr before Run.exit resolves';
      assert.deepEqual(lines(key), [...numbersTo(5000), 'no newline'], written);
      assert.deepEqual(host.server.logs.lines(key, 'stderr'), ['aside'], written);
    });

    it("gives the job ctx.jobEnv, over the host's variables, and nothing of the agent", async () => {
      const ofHost = { SVC_TOKEN: TOKEN, BOTH_HAVE: 'of the host' };
      Object.assign(process.env, ofHost);
      try {
        const env = { LR: '0.1', BOTH_HAVE: 'of the job', SVC_JOB_ID: 'not to be chosen' };
        const key = host.run(['env'], { gpu_indices: [1], run_id: 'run_1', env });
        await host.server.ended(key);
        const printed = new Set(lines(key));
        const ofAttempt = { SVC_JOB_ID: key.job_id, SVC_ATTEMPT: '1', SVC_RUN_ID: 'run_1' };
        const ofServer = runner.hasOwnUrl ? {} : { SVC_URL: host.server.url };
        const given = { ...env, ...ofAttempt, ...ofServer, CUDA_VISIBLE_DEVICES: '1' };
        for (const [name, value] of Object.entries(given))
          assert.ok(printed.has(`${name}=${value}`), `${name}=${value} of ctx.jobEnv is missing`);
        assert.ok(!lines(key).join().includes(TOKEN), 'only ctx.hostEnv may be taken from the agent');
      } finally {
        for (const name of Object.keys(ofHost)) delete process.env[name];
      }
    });

    it('keeps the values of variables off the disk, the log and the command line', async () => {
      const key = host.sh('echo ready; until [ -e go ]; do sleep 0.02; done', { env: { MINE: SECRET } });
      await untilPrinted(key, 1);
      assert.equal(await isCommandAlive(SECRET), false, 'every user can read the arguments of a process');
      assert.deepEqual(await filesWith(SECRET, host.stateDir), []);
      await createFile(key, 'go');
      await host.server.ended(key);
      assert.deepEqual(await filesWith(SECRET, host.stateDir), []);
      assert.ok(!host.logged.join('').includes(SECRET), 'ctx.log must not be given the values of variables');
    });

    it('asks with SIGTERM when it stops', async () => {
      const plain = await startSleep(createSleep());
      host.server.stop(plain, GRACE_MS);
      assert.deepEqual(await exitOf(plain), SIGTERM);

      const trapping = host.sh('trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.05; done');
      await untilPrinted(trapping, 1);
      host.server.stop(trapping, GRACE_MS);
      assert.deepEqual(await exitOf(trapping), exited(5));
      assert.deepEqual(lines(trapping), ['ready', 'bye']);
    });

    it('kills after the shortest grace what ignores SIGTERM, in whatever session it is', async () => {
      const [own, inSession] = [createSleep(), createSleep()];
      const stubborn = (command: string) => `trap "" TERM; echo ready; while :; do ${command}; done`;
      const key = host.sh(`setsid sh -c '${stubborn(inSession)}' & ${stubborn(own)}`);
      await untilPrinted(key, 2);
      for (const graceMs of [10 * TEST_TIMEOUT_MS, 100]) host.server.stop(key, graceMs);
      assert.deepEqual(await exitOf(key), SIGKILL);
      await assertGone(own, inSession);
    });

    it('leaves nothing of an attempt that has ended', async () => {
      const [inGroup, inSession] = [createSleep(), createSleep()];
      const key = host.sh(`${inGroup} & setsid ${inSession} & exit 4`);
      assert.deepEqual(await exitOf(key), exited(4));
      await assertGone(inGroup, inSession);
    });

    it('stops one attempt and no other', async () => {
      const [mine, other] = [createSleep(), createSleep()];
      const [stopped] = await Promise.all([startSleep(mine), startSleep(other)]);
      host.server.stop(stopped, GRACE_MS);
      await host.server.ended(stopped);
      await assertAlive(other);
    });

    it('lets a job go on when the agent is killed, and the next agent has it again', async () => {
      await host.closeAgent();
      const agent = await host.spawnAgent();
      const count = 'i=$((i+1)); echo $i; echo $i > count';
      const key = host.sh(`i=0; until [ -e go ]; do ${count}; sleep 0.02; done; exit 7`);
      await untilPrinted(key, 5);
      await agent.end('SIGKILL');
      const counted = async () =>
        Number(await readFile(path.join(host.file(key, 'work'), 'count'), 'utf8').catch(() => 0));
      const before = await counted();
      await until(async () => (await counted()) > before + 5, 'work while there is no agent');
      await host.startAgent();
      const report = host.server.all('hello').at(-1)?.attempts[0];
      assert.equal(report?.state, 'running', 'recover() must find what an earlier agent started');
      await createFile(key, 'go');
      assert.deepEqual(await exitOf(key), exited(7));
      assert.deepEqual(lines(key), numbersTo(await counted()), 'no output may be lost or doubled');
    });

    it('tells how an attempt ended while there was no agent, or that nobody knows', async () => {
      const [command, go] = [createSleep(), `go-${randomInt(1e9)}`];
      const key = host.sh(`echo ready; until [ -e ${go} ]; do sleep 0.02; done; setsid ${command} & exit 6`);
      await untilPrinted(key, 1);
      await host.closeAgent();
      await createFile(key, go);
      await until(async () => !(await isCommandAlive(go)), 'the end of the command');
      await host.startAgent();
      const exit = await exitOf(key);
      if (exit?.kind !== 'lost') assert.deepEqual(exit, exited(6));
      await assertGone(command);
    });

    it('stops an attempt that an earlier agent started', async () => {
      const command = createSleep();
      const key = await startSleep(command);
      await host.closeAgent();
      await host.startAgent();
      host.server.stop(key, GRACE_MS);
      assert.deepEqual(await exitOf(key), SIGTERM);
      await assertGone(command);
    });

    it('kills at the start of an agent what nobody manages, and nothing of another node', async () => {
      const [mine, foreign] = [createSleep(), createSleep()];
      const other = await TestHost.create(runner);
      try {
        await other.startAgent();
        await startSleep(foreign, other);
        const key = await startSleep(mine);
        await host.closeAgent();
        await rm(path.join(host.stateDir, 'jobs', key.job_id), { recursive: true });
        await host.startAgent();
        await assertGone(mine);
        await assertAlive(foreign);
      } finally {
        await other.close();
      }
    });
  });
}

async function assertGone(...commands: readonly string[]): Promise<void> {
  for (const command of commands)
    assert.equal(await isCommandAlive(command), false, `"${command}" is left of an attempt that is over`);
}

async function assertAlive(command: string): Promise<void> {
  assert.equal(await isCommandAlive(command), true, `"${command}" is of another attempt and must go on`);
}

async function filesWith(text: string, dir: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    // A temporary file may be gone by now.
    const content = await readFile(path.join(file.parentPath, file.name), 'latin1').catch(() => '');
    if (content.includes(text)) found.push(file.name);
  }
  return found;
}
