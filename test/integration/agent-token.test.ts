import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@svc/client';
import { ROOT, startProgram, type Program } from '../support/program.js';
import {
  createWorkplace,
  submit,
  untilJob,
  untilPrinted,
  type Server,
  type Workplace,
} from '../support/workplace.js';

describe('the token of the agent', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  beforeEach(() => (workplace = createWorkplace()));
  afterEach(() => workplace.close());

  const svc = `${ROOT}cli/bin/svc.mjs`;
  const stateDir = () => path.join(workplace.dir, 'agent');

  /** Server, a token of agent scope, and a file that holds it. */
  async function prepare(): Promise<{ server: Server; token: string; file: string }> {
    const server = await workplace.startServer();
    const body = { name: 'agent', scope: 'agent' } as const;
    const { token } = await server.client.call(routes.createToken, { body });
    const file = path.join(workplace.dir, 'agent-token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    return { server, token, file };
  }

  const startAgent = (server: Server, ...args: string[]): Program =>
    workplace.start(['agent', '--state-dir', stateDir(), ...args], { SVC_URL: server.url });

  async function endOf(agent: Program): Promise<void> {
    agent.kill();
    await agent.ended;
  }

  it('comes from a file, and is in neither its argument list, nor its environment, nor that of a job', async () => {
    const { server, token, file } = await prepare();
    const agent = startAgent(server, '--token-file', file);
    await untilPrinted(agent, /(connected)/, 'stderr');
    expect(agent.stderr).to.not.contain('arguments of a process');
    for (const name of ['cmdline', 'environ'])
      expect(readFileSync(`/proc/${agent.pid}/${name}`, 'utf8'), name).to.not.contain(token);
    const { id } = await submit(server.client, {
      command: ['sh', '-c', 'env'],
      resources: { cpu_only: true },
    });
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    const log = await workplace.svc(['logs', id, '--tail', '200']);
    expect(log.stdout).to.contain('SVC_TOKEN=svc_sdk_').and.not.contain(token);
  });

  it('comes from standard input, or with a warning from the argument list', async () => {
    const { server, token, file } = await prepare();
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, SVC_URL: server.url };
    const command = `exec ${process.execPath} ${svc} agent --state-dir ${stateDir()} --token-stdin < ${file}`;
    const fromStdin = startProgram('/bin/sh', ['-c', command], env);
    await untilPrinted(fromStdin, /(connected)/, 'stderr');
    await endOf(fromStdin);
    const fromArguments = startAgent(server, '--token', token);
    await untilPrinted(fromArguments, /(connected)/, 'stderr');
    expect(
      fromArguments.stderr.match(/every user of this host can read the arguments of a process/g),
    ).to.have.length(1);
    const second = await startAgent(server, '--token', token).ended;
    expect({ status: second.status, lines: second.stderr.trimEnd().split('\n').slice(-1) }).to.deep.equal({
      status: 1,
      lines: [
        `svc: another agent already works on ${stateDir()}: stop that one, or give this one its own with --state-dir DIR`,
      ],
    });
    await endOf(fromArguments);
  });

  it('that is nowhere to be read is asked for in a sentence', async () => {
    const { server, file } = await prepare();
    const failure = async (...args: string[]) => (await startAgent(server, ...args).ended).stderr;
    expect(await failure('--token-file', '/no/such/file')).to.match(
      /^svc: the token cannot be read from \/no\/such\/file: ENOENT/,
    );
    writeFileSync(file, '\n');
    expect(await failure('--token-file', file)).to.equal(`svc: there is no token in ${file}\n`);
    expect(await failure('--token-file', file, '--token-stdin')).to.contain('give the token once');
    const elsewhere = ['--url', server.url, '--data-dir', '/no/such/directory'];
    expect(await failure(...elsewhere)).to.contain('give it by --token-file FILE');
  });

  it('that is wrong is told what is wrong with it', async () => {
    const { server, token, file } = await prepare();
    const create = async (name: string, scope: 'agent' | 'read', expires_at: number | null = null) =>
      (await server.client.call(routes.createToken, { body: { name, scope, expires_at } })).token;
    const reason = async (text: string, wanted: RegExp): Promise<void> => {
      writeFileSync(file, text);
      const agent = startAgent(server, '--token-file', file);
      await untilPrinted(agent, wanted, 'stderr');
      expect(agent.stderr).to.not.contain(text);
      await endOf(agent);
    };
    await reason(
      await create('reader', 'read'),
      /(needs a token of agent or write scope; \\?"reader\\?" has read)/,
    );
    await reason(`svc_agent_${'x'.repeat(43)}`, /(the token is unknown to this server)/);
    const { items } = await server.client.call(routes.listTokens);
    const { id } = items.find(({ name }) => name === 'agent')!;
    await server.client.call(routes.revokeToken, { params: { token_id: id } });
    await reason(token, /(the token \\?"agent\\?" was revoked at \d{4}-)/);
    const soon = Date.now() + 1500;
    const short = await create('short', 'agent', soon);
    await until(() => Date.now() > soon);
    await reason(short, /(the token \\?"short\\?" expired at \d{4}-)/);
  });

  it('of svc up lies in a directory of the agent, apart from the jobs, and what an earlier version left is taken along', async () => {
    const up = () => workplace.start(['up', '--port', '0']);
    const at = (...names: string[]) => path.join(workplace.dataDir, ...names);
    const first = up();
    const url = await untilPrinted(first, /svc server listens on (http:\S+)/);
    await untilPrinted(first, /(this sign-in link works once)/);
    expect(readdirSync(at('agent')).sort()).to.deep.equal(['agent.json', 'token']);
    expect(statSync(at('agent')).mode & 0o777).to.equal(0o700);
    expect(first.stdout + first.stderr).to.not.match(/svc_(write|agent)_/);
    const client = createClient({ url, token: readFileSync(at('token'), 'utf8').trim() });
    const { id } = await submit(client, { command: ['sleep', '600'], resources: { cpu_only: true } });
    await untilJob(client, id, ({ status }) => status === 'RUNNING');
    expect(existsSync(at('jobs', id, 'attempt-1', 'work'))).to.equal(true);
    const token = readFileSync(at('agent', 'token'), 'utf8');
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      expect(readProcess(pid).includes(token.trim()), `process ${pid}`).to.equal(false);
    await endOf(first);

    renameSync(at('agent', 'token'), at('agent-token'));
    renameSync(at('agent', 'agent.json'), at('agent.json'));
    const second = up();
    await untilPrinted(second, /(this sign-in link works once)/);
    const again = createClient({
      url: await untilPrinted(second, /svc server listens on (http:\S+)/),
      token: client.connection.token,
    });
    await until(async () => (await untilJob(again, id, () => true)).status === 'RUNNING');
    expect((await again.call(routes.listNodes)).items).to.have.length(1);
    expect(readFileSync(at('agent', 'token'), 'utf8')).to.equal(token);
    await again.call(routes.cancelJob, { params: { job_id: id } });
    await untilJob(again, id, ({ status }) => status === 'CANCELLED');
    await endOf(second);
  });
});

/** Its argument list and its environment; nothing of one that has gone. */
function readProcess(pid: string): string {
  try {
    return ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')).join('\0');
  } catch {
    return '';
  }
}
