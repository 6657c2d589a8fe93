import { createAgentLog } from '@svc/agent';
import { TOKEN } from '@svc/agent/testing';
import { expect } from 'chai';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host } from './support/host.js';

const SECRET = 'the-secret-of-the-job';

describe('process runner: what a process finds', () => {
  let host: Host;
  const logged: string[] = [];
  beforeEach(async () => {
    host = await createHost();
    const log = createAgentLog({ level: 'debug', write: (line) => logged.push(line) });
    await host.startAgent({ log });
  });
  afterEach(() => host.close());

  async function environment(extras: Parameters<Host['run']>[1]): Promise<Map<string, string>> {
    const key = host.run(['env', '-0'], extras);
    await host.server.ended(key);
    const text = await readFile(host.file(key, 'stdout'), 'utf8');
    const pairs = text.split('\0').filter((pair) => pair !== '');
    return new Map(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  }

  it('has who it is, its devices, and its own variables', async () => {
    const env = await environment({
      gpu_indices: [0, 1],
      run_id: 'run_1',
      env: { SVC_TOKEN: SECRET, LR: '0.1' },
    });
    expect(Object.fromEntries(env)).to.deep.include({
      CUDA_VISIBLE_DEVICES: '0,1',
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
      PYTHONUNBUFFERED: '1',
      SPT_NOENV: '1',
      SVC_URL: host.server.url,
      SVC_CONSOLE_URL: host.server.url,
      SVC_NODE_ID: host.nodeId,
      SVC_JOB_ID: 'job_00000000000000000000000001',
      SVC_ATTEMPT: '1',
      SVC_RUN_ID: 'run_1',
      SVC_TOKEN: SECRET,
      LR: '0.1',
      PATH: process.env['PATH'],
    });
  });

  it('sees no GPU when it was given none, and has no run when there is none', async () => {
    const env = await environment({});
    expect(env.get('CUDA_VISIBLE_DEVICES')).to.equal('');
    expect(env.has('SVC_RUN_ID')).to.equal(false);
  });

  it('cannot choose its devices or its name', async () => {
    const env = await environment({
      gpu_indices: [1],
      env: { CUDA_VISIBLE_DEVICES: '0,1,2', SVC_JOB_ID: 'job_other' },
    });
    expect(env.get('CUDA_VISIBLE_DEVICES')).to.equal('1');
    expect(env.get('SVC_JOB_ID')).to.equal('job_00000000000000000000000001');
  });

  it('has defaults that it may choose otherwise', async () => {
    const env = await environment({ env: { SPT_NOENV: '', PYTHONUNBUFFERED: '' } });
    expect([env.get('SPT_NOENV'), env.get('PYTHONUNBUFFERED')]).to.deep.equal(['', '']);
  });

  it('never sees the token of the agent', async () => {
    process.env['SVC_TOKEN'] = TOKEN;
    process.env['SOME_COPY'] = `Bearer ${TOKEN}`;
    try {
      const env = await environment({});
      expect(env.has('SVC_TOKEN')).to.equal(false);
      expect(env.has('SOME_COPY')).to.equal(false);
    } finally {
      delete process.env['SVC_TOKEN'];
      delete process.env['SOME_COPY'];
    }
  });

  it('runs in its own directory, or in the one that was asked for', async () => {
    const own = host.run(['pwd']);
    const asked = host.run(['pwd'], { working_dir: '/usr' });
    await Promise.all([host.server.ended(own), host.server.ended(asked)]);
    expect(host.server.logs.lines(own)).to.deep.equal([host.file(own, 'work')]);
    expect(host.server.logs.lines(asked)).to.deep.equal(['/usr']);
  });

  it('reads nothing from stdin', async () => {
    const ended = await host.server.ended(host.sh('cat; readlink /proc/self/fd/0'));
    expect(ended.exit).to.deep.equal({ kind: 'exited', code: 0 });
  });

  it('leaves files that an operator can read, and that nobody else can', async () => {
    const key = host.sh('echo hello', { gpu_indices: [1], run_id: 'run_1', name: 'train' });
    const { pid, started_at } = await host.server.ended(key);
    expect(await host.json(key, 'runtime.json')).to.deep.equal({
      ...key,
      run_id: 'run_1',
      node_id: host.nodeId,
      node: 'node-1',
      runner: 'process',
      pid,
      started_at,
      command: ['sh', '-c', 'echo hello'],
      working_dir: host.file(key, 'work'),
      gpu_indices: [1],
    });
    expect(await host.json(key, 'exit.json')).to.include({ kind: 'exited', code: 0 });
    expect(await readFile(host.file(key, 'stdout'), 'utf8')).to.equal('hello\n');
    for (const name of await readdir(host.file(key, '.'))) {
      const { mode } = await stat(host.file(key, name));
      expect(mode & 0o777, name).to.equal(['work', 'spool'].includes(name) ? 0o700 : 0o600);
    }
    expect((await stat(host.file(key, '.'))).mode & 0o777).to.equal(0o700);
  });

  it('keeps the values of variables off every disk and out of the log', async () => {
    const key = host.run(['true'], { env: { SVC_TOKEN: SECRET } });
    await host.server.ended(key);
    expect((await host.json(key, 'plan.json'))['env_names']).to.deep.equal(['SVC_TOKEN']);
    const files = await readdir(host.stateDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = await readFile(path.join(file.parentPath, file.name), 'utf8');
      expect(text, file.name).not.to.include(SECRET).and.not.to.include(TOKEN);
    }
    expect(logged.join('')).not.to.include(SECRET).and.not.to.include(TOKEN);
  });
});
