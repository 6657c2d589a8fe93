import { createAgentLog, startAgent, BootError } from '@svc/agent';
import { TOKEN, until } from '@svc/agent/testing';
import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createHost, type Host, isAlive } from './support/host.js';

const USER = `svc-job-${process.pid}`;
const GROUP = `svc-extra-${process.pid}`;
const isRoot = process.getuid?.() === 0;

describe('jobs as another user', function () {
  this.timeout(60_000);
  let host: Host;
  let uid: number;
  let home: string;

  before(function () {
    if (!isRoot) {
      // Only root may run a job as another user.
      return this.skip();
    }
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-home-'));
    execFileSync('groupadd', [GROUP]);
    execFileSync('useradd', ['--no-create-home', '--home-dir', home, '--groups', GROUP, USER]);
    uid = Number(execFileSync('id', ['-u', USER], { encoding: 'utf8' }));
  });
  after(() => {
    if (!isRoot) return;
    execFileSync('userdel', [USER]);
    execFileSync('groupdel', [GROUP]);
    rmSync(home, { recursive: true, force: true });
  });
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent({ runAs: USER });
  });
  afterEach(() => host.close());

  const output = (key: AttemptKey) => readFileSync(host.file(key, 'stdout'), 'utf8');

  const spooledBy = ({ job_id }: AttemptKey) =>
    host.server
      .all('spool')
      .flatMap((frame) => (frame.job_id === job_id ? frame.lines.map(({ text }) => text) : []));

  async function ended(key: AttemptKey) {
    return (await host.server.ended(key)).exit;
  }

  async function outputOf(script: string): Promise<string> {
    const key = host.sh(script);
    expect(await ended(key), output(key)).to.deep.equal({ kind: 'exited', code: 0 });
    return output(key);
  }

  it('have its ids, its groups, its home and its name, and no way back to root', async () => {
    const lines = (
      await outputOf(
        'id -u; id -ru; id -G; echo $HOME $USER $LOGNAME; grep -E "^(Uid|CapEff)" /proc/self/status; ls /proc/self/fd | grep -c ^.$',
      )
    ).split('\n');
    const groups = execFileSync('id', ['-G', USER], { encoding: 'utf8' }).trim();
    expect(lines.slice(0, 4)).to.deep.equal([`${uid}`, `${uid}`, groups, `${home} ${USER} ${USER}`]);
    expect(groups.split(' ')).to.have.length(2);
    expect(lines[4]).to.equal(`Uid:\t${uid}\t${uid}\t${uid}\t${uid}`);
    expect(lines[5]).to.match(/^CapEff:\t0+$/);
    expect(lines[6], 'open files of one digit: 0, 1, 2 and the folder that is listed').to.equal('4');
  });

  it('may write to their own directories, and to their output anew', async () => {
    const key = host.sh(
      'echo x > made && echo y > "$SVC_SPOOL_DIR/note" && echo again > /dev/stdout && echo oops > /dev/stderr',
    );
    expect(await ended(key)).to.deep.equal({ kind: 'exited', code: 0 });
    expect(output(key)).to.equal('again\n');
    for (const name of ['work/made', 'spool/note', 'work', 'spool', 'stdout'])
      expect(statSync(host.file(key, name)).uid, name).to.equal(uid);
  });

  it("cannot read or change what is the agent's", async () => {
    writeFileSync(host.file({ job_id: '..', attempt: 0 }, '../secret'), 'x', { mode: 0o600 });
    const other = host.sh('exit 0');
    await ended(other);
    const state = host.stateDir;
    // As the snapshots plugin makes it.
    mkdirSync(`${state}/snapshot-cache`, { mode: 0o700 });
    writeFileSync(`${state}/snapshot-cache/a.tar.gz`, 'x', { mode: 0o600 });
    const attempts = [
      `cat ${state}/agent/agent.json`,
      `cat ${state}/secret`,
      `cat ${state}/snapshot-cache/a.tar.gz`,
      `ls ${state}`,
      `ls ${state}/jobs`,
      'cat ../plan.json',
      'cat ../state.json',
      `cat ${host.file(other, 'plan.json')}`,
      'rm -f ../plan.json',
      'touch ../exit.json',
      'ln -s /etc/passwd ../exit.json.1.tmp',
      'mv ../spool ../gone',
      `mkdir ${state}/jobs/job_other`,
    ];
    const script = attempts
      .map((attempt) => `(${attempt}) 2>/dev/null && echo "done: ${attempt}"`)
      .join('\n');
    expect(await outputOf(`${script}\nexit 0`)).to.equal('');
  });

  it('leave the result of an evaluation in the file that is made for it', async () => {
    const result = JSON.stringify({ metrics: { acc: 1 }, runtime_s: 2 });
    const good = host.run(['sh', '-c', `echo '${result}' > "$SVC_EVAL_OUTPUT"`], { job_type: 'EVALUATE' });
    expect(await ended(good)).to.deep.equal({ kind: 'exited', code: 0 });
    const none = host.run(['true'], { job_type: 'EVALUATE' });
    expect(await ended(none)).to.deep.include({ kind: 'result_invalid' });
  });

  it('cannot have the agent read a file for them that they may not read', async () => {
    const secret = host.file({ job_id: '..', attempt: 0 }, '../secret');
    const writeSecret = () =>
      writeFileSync(secret, `${JSON.stringify({ metrics: { acc: 1 }, runtime_s: 2 })}\n`, { mode: 0o600 });
    writeSecret();
    const spooling = host.sh(
      'while [ ! -e go ]; do sleep 0.05; done; echo "{}" > "$SVC_SPOOL_DIR/mine.jsonl"; exit 0',
    );
    await host.server.running(spooling);
    // The job may make such a link itself where the system has fs.protected_hardlinks=0.
    linkSync(secret, host.file(spooling, 'spool/link.jsonl'));
    writeFileSync(host.file(spooling, 'work/go'), '');
    await ended(spooling);
    await until(() => spooledBy(spooling).length > 0, 'what the job spooled');
    await until(() => existsSync(host.file(spooling, 'forgotten.json')), 'the whole of the attempt');
    expect(spooledBy(spooling)).to.deep.equal(['{}']);

    const named = host.run(['sleep', '0.5'], { job_type: 'EVALUATE', env: { SVC_EVAL_OUTPUT: secret } });
    const linked = host.sh(`ln -sf ${secret} "$PWD/result.json"; sleep 0.5`, {
      job_type: 'EVALUATE',
      env: { SVC_EVAL_OUTPUT: 'result.json' },
    });
    await Promise.all([named, linked].map((key) => host.server.running(key)));
    writeSecret();
    for (const [key, file] of [
      [named, secret],
      [linked, host.file(linked, 'work/result.json')],
    ] as const) {
      const message = `${file} belongs to another user than the job's (node-1)`;
      expect(await ended(key)).to.deep.equal({ kind: 'result_invalid', message });
    }
  });

  it('are stopped with all that they left behind, also what ignores SIGTERM in a session of its own', async () => {
    const key = host.sh('setsid sh -c \'trap "" TERM; echo $$; while :; do sleep 1; done\' & sleep 600');
    await host.server.running(key);
    await until(() => /^\d+\n/.test(output(key)), 'the grandchild');
    const grandchild = Number(output(key).trim());
    host.server.send({ type: 'stop', ...key, grace_ms: 100 });
    expect(await ended(key)).to.deep.include({ kind: 'signaled' });
    expect(await isAlive(grandchild)).to.equal(false);
  });

  it('are found again by the next agent, and their exit code is known', async () => {
    const key = host.sh('while [ ! -e go ]; do sleep 0.05; done; exit 7');
    await host.server.running(key);
    await host.closeAgent();
    await host.startAgent({ runAs: USER });
    writeFileSync(host.file(key, 'work/go'), '');
    expect(await ended(key)).to.deep.equal({ kind: 'exited', code: 7 });
  });

  it('that kill all they may, their launcher too, are told as lost and leave nothing', async () => {
    const key = host.sh('echo $$; trap "" TERM; kill -9 -1; sleep 1; exit 0');
    expect(await ended(key)).to.deep.include({ kind: 'lost' });
    expect(await isAlive(Number(output(key).trim()))).to.equal(false);
    expect(await ended(host.sh('exit 3')), 'the next one').to.deep.equal({ kind: 'exited', code: 3 });
  });

  it('that stop their launcher end as they do all the same', async () => {
    expect(await ended(host.sh('kill -STOP $PPID; exit 3'))).to.deep.equal({ kind: 'exited', code: 3 });
    const stopped = host.sh('kill -STOP $PPID; echo ready; sleep 600');
    await host.server.running(stopped);
    await until(() => output(stopped) === 'ready\n', 'the job');
    host.server.send({ type: 'stop', ...stopped, grace_ms: 100 });
    expect(await ended(stopped)).to.deep.include({ kind: 'signaled' });
  });

  it('that stop their launcher again and again end, and leave nothing', async () => {
    const key = host.sh(
      'L=$PPID; setsid sh -c "echo \\$\\$ $L; while :; do kill -STOP $L; done" & sleep 0.5; kill -STOP $L; exit 3',
    );
    expect(await ended(key))
      .to.have.property('kind')
      .that.is.oneOf(['exited', 'lost']);
    for (const pid of output(key).trim().split(' '))
      await until(async () => !(await isAlive(Number(pid))), `the end of process ${pid}`);
  });

  it('cannot speak in the name of their launcher by way of its debugger', async () => {
    const forged = JSON.stringify({ exit: { code: 0, signal: null } });
    const expression = `require('fs').writeSync(3, ${JSON.stringify(`${forged}\n`)})`;
    const evaluate = JSON.stringify({
      id: 1,
      method: 'Runtime.evaluate',
      params: { expression, includeCommandLineAPI: true },
    });
    const upgrade = [
      'GET PATH HTTP/1.1',
      'Host: 127.0.0.1',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
      '',
      '',
    ].join('\r\n');
    const script = `
      const pause = require('node:timers/promises').setTimeout;
      const text = Buffer.from(${JSON.stringify(evaluate)});
      const frame = Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]), text]);
      (async () => {
        process.kill(process.ppid, 'SIGUSR1');
        await pause(1000);
        const list = await fetch('http://127.0.0.1:9229/json/list').then((answer) => answer.json()).catch(() => []);
        for (const { webSocketDebuggerUrl } of list) {
          const socket = require('node:net').connect(9229, '127.0.0.1');
          socket.on('error', () => {}).once('data', () => socket.write(frame));
          socket.write(${JSON.stringify(upgrade)}.replace('PATH', new URL(webSocketDebuggerUrl).pathname));
        }
        await pause(1000);
        process.exit(5);
      })();`;
    const key = host.run([process.execPath, '-e', script]);
    expect(await ended(key), output(key)).to.deep.equal({ kind: 'exited', code: 5 });
  });

  it('that cannot be started say why, as that user sees it', async () => {
    const closed = mkdtempSync(path.join(os.tmpdir(), 'svc-closed-'));
    try {
      const at = (working_dir: string, command = ['true']) => ended(host.run(command, { working_dir }));
      expect(await at(closed)).to.deep.equal({
        kind: 'dispatch_failed',
        message: `permission denied: working_dir ${closed} cannot be entered as ${USER} on node-1`,
      });
      expect(await at('/', ['/no/such/program'])).to.deep.equal({
        kind: 'dispatch_failed',
        message: `program /no/such/program does not exist as ${USER} on node-1`,
      });
    } finally {
      rmSync(closed, { recursive: true });
    }
  });

  it('need a user that there is, other than root, and a directory that it can pass to', async () => {
    await host.closeAgent();
    const refusal = async (runAs: string, stateDir = host.stateDir) => {
      const options = { url: host.server.url, token: TOKEN, stateDir, runAs, plugins: [] };
      const error = await startAgent({ ...options, log: createAgentLog({ write: () => {} }) }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(BootError);
      return (error as Error).message;
    };
    expect(await refusal('nobody-there')).to.contain('this host has no such user');
    expect(await refusal('root')).to.contain('is root');
    const closed = mkdtempSync(path.join(os.tmpdir(), 'svc-closed-'));
    try {
      chmodSync(closed, 0o700);
      expect(await refusal(USER, path.join(closed, 'state')))
        .to.contain('cannot pass to')
        .and.contain('--state-dir');
      writeFileSync(path.join(host.stateDir, 'server.lock'), '');
      expect(await refusal(USER)).to.contain('holds the files of a server');
    } finally {
      rmSync(closed, { recursive: true });
    }
  });
});

describe('jobs as another user, asked for by an agent that is not root', () => {
  it('are refused with a sentence', async function () {
    if (isRoot) return this.skip();
    const options = { url: 'http://127.0.0.1:9', token: TOKEN, runAs: 'nobody', plugins: [] };
    const error = await startAgent({
      ...options,
      stateDir: mkdtempSync(path.join(os.tmpdir(), 'svc-')),
    }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.contain('--run-as needs an agent that runs as root');
  });
});
