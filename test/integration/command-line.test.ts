import { existsSync, readFileSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { routes, type BodyOf, type Job, type NodeRecord, type Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { ROOT, startProgram, type Program } from '../support/program.js';
import {
  createWorkplace,
  untilJob,
  untilPrinted,
  type Server,
  type Workplace,
} from '../support/workplace.js';

const WAITS = ['sh', '-c', 'echo ready; sleep 600'];

describe('svc against the real server and agent', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server, ['--name', 'worker', '--label', 'rack=b2', '--virtual-gpus', '2']);
  });
  after(() => workplace.close());

  /** Output of a command that must succeed. */
  async function svc(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await workplace.svc(args);
    expect(status, stderr).to.equal(0);
    return stdout;
  }

  async function json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await svc(...args, '--json')) as T;
  }

  /** A job that goes on until it is cancelled, followed by a program of its own. */
  async function followWaiting(): Promise<{ follower: Program; id: string }> {
    const follower = workplace.start(['submit', '--cpu-only', '--follow', '--', ...WAITS]);
    await until(() => follower.stdout === 'ready\n', { timeoutMs: 60_000 });
    return { follower, id: /^(job_\w+)/.exec(follower.stderr)?.[1] ?? '' };
  }

  describe('submit --follow', () => {
    it('prints both streams where they belong, says each state, and ends with the exit code', async () => {
      const command = 'echo out; echo err >&2; printf "no newline at the end"; exit 7';
      const { status, stdout, stderr } = await workplace.svc([
        'submit',
        '--cpu-only',
        '-f',
        '--',
        'sh',
        '-c',
        command,
      ]);
      expect(status).to.equal(7);
      expect(stdout).to.equal('out\nno newline at the end\n');
      expect(stderr).to.match(/^err$/m);
      expect(stderr)
        .to.match(/^job_\w+ QUEUED$/m)
        .and.not.include('just queued');
      expect(stderr).to.match(/^job_\w+ FAILED: after \S+, exited with code 7$/m);
    });

    it('0 for a job that succeeds, with every line of a long log in order', async () => {
      const { status, stdout } = await workplace.svc(['submit', '--cpu-only', '-f', '--', 'seq', '20000']);
      expect(status).to.equal(0);
      const lines = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`);
      expect(stdout === lines.join(''), `${stdout.length} characters`).to.equal(true);
    });

    it('128 + n for one that a signal ends', async () => {
      const { status, stderr } = await workplace.svc([
        'submit',
        '--cpu-only',
        '-f',
        '--',
        'sh',
        '-c',
        'kill -9 $$',
      ]);
      expect(status).to.equal(137);
      expect(stderr).to.match(/FAILED: .*was killed by SIGKILL$/m);
    });

    it('143 for one that is cancelled while it runs', async () => {
      const { follower, id } = await followWaiting();
      expect(await svc('cancel', id)).to.match(/SIGTERM, and SIGKILL if they still run after 10 s$/m);
      const { status, stderr } = await follower.ended;
      expect(stderr).to.match(/CANCELLED: .*cancelled; the process was killed by SIGTERM$/m);
      expect(status).to.equal(143);
    });

    it('130 for one that is cancelled in the queue', async () => {
      const follower = workplace.start(['submit', '--gpu', '64', '-f', '--', 'true']);
      await until(() => /^job_\w+ QUEUED: needs 64 GPUs/m.test(follower.stderr), { timeoutMs: 60_000 });
      await svc('cancel', /^(job_\w+)/m.exec(follower.stderr)?.[1] ?? '');
      expect((await follower.ended).status).to.equal(130);
    });

    it('1 for one that cannot be started, and says why', async () => {
      const { status, stderr } = await workplace.svc([
        'submit',
        '--cpu-only',
        '-f',
        '--',
        '/no/such/program',
      ]);
      expect(status).to.equal(1);
      expect(stderr).to.match(/FAILED: .*\/no\/such\/program/);
    });

    it('Ctrl-C detaches: the job continues, and the hint works', async () => {
      const { follower, id } = await followWaiting();
      follower.kill('SIGINT');
      const { status, stderr } = await follower.ended;
      expect(status).to.equal(130);
      expect(stderr).to.contain(
        `detached; ${id} continues. To follow it again: svc logs -f ${id}; to cancel it: svc cancel ${id}`,
      );
      expect((await json<Job>('job', id)).status).to.equal('RUNNING');
      const again = workplace.start(['logs', '-f', id]);
      await until(() => again.stdout === 'ready\n', { timeoutMs: 60_000 });
      await svc('cancel', id);
      expect((await again.ended).status).to.equal(0);
    });

    it('follows over automatic retries', async () => {
      const script = 'echo attempt $SVC_ATTEMPT; [ $SVC_ATTEMPT = 2 ] || kill -9 $$';
      const args = ['submit', '--cpu-only', '--max-attempts', '2', '-f', '--', 'sh', '-c', script];
      const { status, stdout } = await workplace.svc(args);
      expect(stdout).to.equal('attempt 1\nattempt 2\n');
      expect(status).to.equal(0);
    });
  });

  it('every option of submit arrives in the record', async () => {
    const args = ['--name', 'n', '--gpu', '1', '--priority', '-5', '--project', 'p', '--experiment', 'e'];
    args.push(
      '--working-dir',
      '/tmp',
      '--env',
      'A=1=2',
      '--env',
      'B=',
      '--max-attempts',
      '3',
      '--node-selector',
      'rack=zz',
    );
    const id = (await svc('submit', ...args, '--', 'echo', '--gpu', 'a b')).trim();
    const job = await json<Job>('job', id);
    expect(job).to.deep.include({
      name: 'n',
      command: ['echo', '--gpu', 'a b'],
      priority: -5,
      project: 'p',
      experiment: 'e',
      working_dir: '/tmp',
      env: { A: '1=2', B: '' },
      max_attempts: 3,
      node_selector: { rack: 'zz' },
      resources: { gpu: 1, cpu_only: false },
      status: 'QUEUED',
    });
    await svc('cancel', id);
  });

  it('--env NAME takes the value from here, so that a secret stands in no argument list', async () => {
    const args = ['submit', '--gpu', '64', '--env', 'SECRET', '--', 'true'];
    const { stdout } = await workplace.svc(args, { SECRET: 'from here' });
    const job = await json<Job>('job', stdout.trim());
    expect(job.env).to.deep.equal({ SECRET: 'from here' });
    await svc('cancel', job.id);
    expect((await workplace.svc(args)).status).to.equal(2);
  });

  it('logs: streams, tail, search and attempts', async () => {
    const script = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done';
    const { stderr } = await workplace.svc(['submit', '--cpu-only', '-f', '--', 'sh', '-c', script]);
    const id = /^(job_\w+)/.exec(stderr)?.[1] ?? '';
    expect(await svc('logs', id, '--stream', 'stdout')).to.equal('out 1\nout 2\nout 3\n');
    expect(await svc('logs', id, '--stream', 'stderr', '--tail', '1')).to.equal('err 3\n');
    expect((await svc('logs', id, '--search', ' 2')).split('\n').sort()).to.deep.equal([
      '',
      'err 2',
      'out 2',
    ]);
    await svc('retry', id);
    const job = await untilJob(
      server.client,
      id,
      ({ status, attempt }) => status === 'SUCCEEDED' && attempt === 2,
    );
    expect(job.attempt).to.equal(2);
    expect((await svc('logs', id, '--attempt', '1')).split('\n')).to.have.length(7);
    expect((await workplace.svc(['logs', id, '--attempt', '3'])).status).to.equal(1);
  });

  it('jobs, nodes, runs and run are tables for people and JSON for programs', async () => {
    const { stderr } = await workplace.svc(['submit', '--cpu-only', '-f', '--name', 'tabled', '--', 'true']);
    const id = /^(job_\w+)/.exec(stderr)?.[1] ?? '';
    const [head, first] = (await svc('jobs', '--limit', '1')).split('\n');
    expect(head).to.match(/^ID +NAME +PROJECT +STATUS/);
    expect(first).to.contain(id).and.contain('tabled').and.contain('SUCCEEDED');
    expect(await svc('nodes')).to.match(/worker +ONLINE +0\/2 virtual .*rack=b2/);
    const [node] = (await json<{ items: NodeRecord[] }>('nodes')).items;
    const refused = await workplace.svc(['node', 'rm', node?.id ?? '']);
    expect([refused.status, refused.stderr]).to.deep.equal([
      1,
      'svc: worker is connected: stop its agent first\n',
    ]);
    const { run_id } = await json<Job>('job', id);
    expect(await svc('runs', '--job', id)).to.contain(run_id ?? 'no run');
    expect(await svc('run', run_id ?? '')).to.match(/^tabled {2}SUCCEEDED/);
    expect((await json<{ items: Job[] }>('jobs', '--limit', '2')).items).to.have.length(2);
    expect(await svc('jobs')).to.not.match(/\u001b/);
  });

  it('runs: of a project and experiment by name, by words of their names and by tags', async () => {
    const create = async (body: BodyOf<typeof routes.createRun>) =>
      (await server.client.call(routes.createRun, { body })).id;
    const place = { project: 'searched', experiment: 'e' };
    const git = { commit: 'c'.repeat(40), branch: 'main', dirty: true };
    const one = await create({ ...place, name: 'ResNet a', tags: ['best', 'base'], environment: { git } });
    const two = await create({ ...place, name: 'resnet b', tags: ['base'] });
    await create({ project: 'another', experiment: 'e', name: 'resnet a' });
    const ids = async (...args: string[]) =>
      (await json<{ items: Run[] }>('runs', ...args)).items.map(({ id }) => id);
    expect(await ids('--project', 'searched')).to.deep.equal([two, one]);
    expect(await ids('--project', 'searched', '--experiment', 'e', '--search', 'RESNET a')).to.deep.equal([
      one,
    ]);
    expect(await ids('--tag', 'base', '--tag', 'best')).to.deep.equal([one]);
    expect(await svc('runs', '--tag', 'best')).to.match(/ResNet a .* best, base$/m);
    expect(await svc('run', one)).to.match(/tags +best, base\n.*commit +c{40} \(main, with changes\)/);
    expect(await json<Run>('run', one)).to.deep.include({ environment: { git } });
    for (const [args, message] of [
      [['--project', 'none'], 'no project has the name "none"'],
      [['--experiment', 'none'], 'no experiment has the name "none"'],
      [['--experiment', 'e'], 'several projects have an experiment "e": name the project with --project'],
    ] as const) {
      const { status, stderr } = await workplace.svc(['runs', ...args]);
      expect([status, stderr]).to.deep.equal([1, `svc: ${message}\n`]);
    }
  });

  it('what is not there is a failure told in one line', async () => {
    for (const args of [
      ['job', 'job_nonsense'],
      ['logs', 'job_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
      ['run', 'x'],
      ['cancel', 'x'],
    ]) {
      const { status, stdout, stderr } = await workplace.svc(args);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^svc: no (job|run) .*\n$/);
    }
  });

  it('a read token may look and not touch', async () => {
    const token = (await svc('token', 'create', '--name', 'reader', '--scope', 'read')).trim();
    const env = { SVC_TOKEN: token };
    expect((await workplace.svc(['whoami'], env)).stdout).to.match(/^reader: scope read, cannot write/);
    expect((await workplace.svc(['jobs'], env)).status).to.equal(0);
    const { status, stderr } = await workplace.svc(['submit', '--', 'true'], env);
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: not allowed: this needs a token of write scope/);
  });

  it('a revoked token stops working at once', async () => {
    const made = await json<{ id: string; token: string }>(
      'token',
      'create',
      '--name',
      'gone',
      '--scope',
      'write',
    );
    expect((await workplace.svc(['jobs'], { SVC_TOKEN: made.token })).status).to.equal(0);
    await svc('token', 'revoke', made.id);
    const { status, stderr } = await workplace.svc(['jobs'], { SVC_TOKEN: made.token });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: .*\(svc login http:\S+ saves a valid one; or set SVC_TOKEN\)\n$/);
  });
});

describe('svc without a server', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  beforeEach(() => (workplace = createWorkplace()));
  afterEach(() => workplace.close());

  it('tokens are made, listed and revoked on the data directory, and the server takes them', async () => {
    const first = await workplace.startServer();
    first.kill();
    expect((await first.ended).status).to.equal(0);
    const { stdout } = await workplace.svc([
      'token',
      'create',
      '--name',
      'offline',
      '--scope',
      'write',
      '--json',
    ]);
    const made = JSON.parse(stdout) as { id: string; token: string };
    const revoked = JSON.parse(
      (await workplace.svc(['token', 'create', '--name', 'short', '--scope', 'write', '--json'])).stdout,
    ) as typeof made;
    expect((await workplace.svc(['token', 'revoke', revoked.id])).status).to.equal(0);
    expect((await workplace.svc(['token', 'list'])).stdout)
      .to.match(/offline +write/)
      .and.match(/short +write .*revoked/);
    const unknown = await workplace.svc(['token', 'revoke', 'tok_nonsense']);
    expect(unknown).to.deep.include({
      status: 1,
      stderr: 'svc: no token has an id that is "tok_nonsense" or begins or ends so\n',
    });
    await workplace.startServer();
    expect((await workplace.svc(['whoami'], { SVC_TOKEN: made.token })).stdout).to.match(
      /^offline: scope write/,
    );
    expect((await workplace.svc(['whoami'], { SVC_TOKEN: revoked.token })).status).to.equal(1);
  });

  it('there are no tokens where there never was a server', async () => {
    const { status, stderr } = await workplace.svc(['token', 'list']);
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: there is no database in .*: start the server once \(svc up\)\n$/);
  });

  it('the first start keeps its token for its owner alone, and prints where it is when nobody sits at a terminal', async () => {
    const first = await workplace.startServer();
    const file = path.join(workplace.dataDir, 'token');
    await until(() => first.stdout.includes('first token'));
    expect(first.stdout).to.contain(`made the first token, of write scope: it is in ${file}`);
    expect(readFileSync(file, 'utf8').trim()).to.match(/^svc_write_\w{43}$/);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(first.stdout + first.stderr).to.not.contain('svc_write_');
    first.kill();
    await first.ended;
    expect(existsSync(path.join(workplace.dataDir, 'server.json'))).to.equal(false);
    const second = await workplace.startServer();
    expect(second.stdout).to.not.contain('first token');
  });

  it('the first start prints its token once, on a terminal', async function () {
    if (!existsSync('/usr/bin/script')) return this.skip();
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, SVC_DATA_DIR: workplace.dataDir };
    const command = `${process.execPath} ${ROOT}cli/bin/svc.mjs server --port 0`;
    const terminal = startProgram('/usr/bin/script', ['-qefc', command, '/dev/null'], env);
    const printed = await untilPrinted(terminal, /first token, of write scope: (svc_write_\w{43})/);
    expect(printed).to.equal(readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim());
    terminal.kill();
    await terminal.ended;
  });

  it('without a server no address is guessed: svc says how to come by one', async () => {
    const { status, stderr } = await workplace.svc(['jobs']);
    expect([status, stderr]).to.deep.equal([
      1,
      `svc: no server is running on the data directory ${workplace.dataDir}: start one with svc up, or name one with svc login URL, --url or SVC_URL\n`,
    ]);
  });

  it('what listens on the port of a server that was killed gets no token', async () => {
    const killed = await workplace.startServer();
    killed.kill('SIGKILL');
    await killed.ended;
    const headers: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      headers.push(request.headers.authorization);
      response.end('{}');
    });
    stranger.listen(Number(new URL(killed.url).port), '127.0.0.1');
    try {
      await once(stranger, 'listening');
      expect((await workplace.svc(['jobs'])).stderr).to.contain('no server is running');
      await workplace.svc(['whoami', '--url', killed.url]);
      expect(headers).to.deep.equal([undefined]);
    } finally {
      stranger.close();
    }
  });
});
