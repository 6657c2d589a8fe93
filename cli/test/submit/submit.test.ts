import type { Job, NodeRecord } from '@svc/contract';
import { FAILURE_REASONS, RETRIED_REASONS } from '@svc/contract/protocol';
import { createClient } from '@svc/client';
import { serverFile, toLocalServer } from '@svc/client/local-server';
import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import { snapshots } from '@svc/plugin-snapshots';
import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Rig } from '../../../plugins/runs/test/support/rig.js';
import { createProgram } from '../../src/main.js';
import { completeFromHere } from '../../src/submit/from-here.js';
import { bindToThisHost } from '../../src/submit/on-this-host.js';
import { isOnThisHost } from '../../src/submit/this-host.js';
import { runHere } from '../support/svc.js';

const MIB = 1024 * 1024;

describe('svc submit', () => {
  let rig: Rig;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  const cwd = process.cwd();
  beforeEach(async () => {
    dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'svc-submit-')));
    rig = await Rig.start({ plugins: [snapshots({ max_mb: 1 })] });
    env = {
      HOME: dir,
      XDG_CACHE_HOME: dir,
      SVC_URL: rig.kernel.url,
      SVC_TOKEN: rig.tokens.write,
      VIRTUAL_ENV: '',
      CONDA_PREFIX: '',
    };
    mkdirSync(path.join(dir, 'project', 'sub'), { recursive: true });
    writeFileSync(path.join(dir, 'project', 'train.sh'), 'true\n');
    process.chdir(path.join(dir, 'project'));
  });
  afterEach(async () => {
    process.chdir(cwd);
    await rig.close();
    rmSync(dir, { recursive: true });
  });

  async function connect(hostname: string, gpus = 0, more: object = {}): Promise<FakeAgent> {
    const hello = { hostname, name: hostname, slots: virtualSlots(gpus), ...more };
    const agent = new FakeAgent({ url: rig.kernel.url, token: rig.tokens.agent, hello });
    await agent.connect();
    return agent;
  }

  async function submit(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
    const { status, stdout, stderr } = await runHere(['submit', '--json', ...args], { ...env, ...more });
    expect(status, stderr).to.equal(0);
    return { job: JSON.parse(stdout) as Job, stderr };
  }
  const refuse = (...args: string[]) => runHere(['submit', ...args], env);
  const read = async (id: string) => (await rig.get(`/jobs/${id}`)).body as Job & { env: object };

  describe('with an active virtual environment', () => {
    const shell = () => ({ VIRTUAL_ENV: '/p/.venv', PATH: `/p/.venv/bin:${process.env['PATH']}` });

    it('sends it along and says so', async () => {
      const agent = await rig.agent();
      const { job, stderr } = await submit(['--env', 'A=1', 'sh', 'train.sh'], shell());
      const { env: sent } = await agent.dispatchOf(job.id);
      expect(sent).to.include({ ...shell(), A: '1' });
      expect(stderr).to.contain('with the Python environment /p/.venv (--no-venv leaves it out)\n');
    });

    it('leaves it out with --no-venv', async () => {
      const { job, stderr } = await submit(['--no-venv', 'sh', 'train.sh'], shell());
      expect((await read(job.id)).env).to.deep.equal({});
      expect(stderr).not.to.contain('environment');
    });

    it('leaves it out for another runner, whose jobs may have a Python of their own', async () => {
      const { stderr } = await runHere(['submit', '--runner', 'docker', '--image', 'x', 'sh'], {
        ...env,
        ...shell(),
      });
      expect(stderr).to.contain('there is no runner "docker"').and.not.contain('with the Python environment');
    });

    it('says that a container does not get this directory, unless files are chosen', async () => {
      const toDocker = ['submit', '--runner', 'docker', '--image', 'x'];
      expect((await runHere([...toDocker, 'sh'], env)).stderr).to.contain(
        'a container does not get this directory: the job runs in an empty one; add --upload',
      );
      for (const choice of ['--upload', '--no-working-dir'])
        expect((await runHere([...toDocker, choice, '--', 'sh'], env)).stderr).not.to.contain('does not get');
    });

    it('leaves it out with --upload, because the job may run on another host', async () => {
      const { job, stderr } = await submit(['--upload', '--cpu-only', 'sh', 'train.sh'], shell());
      expect((await read(job.id)).env).to.deep.equal({});
      expect(stderr).to.contain(
        'without the Python environment /p/.venv: with --upload, python3 is that of the node\n',
      );
    });
  });

  describe('without GPUs', () => {
    it('asks for none and says so when no node has one', async () => {
      const agent = await connect(os.hostname());
      const { job, stderr } = await submit(['sh', 'train.sh']);
      expect(job.resources).to.include({ cpu_only: true });
      expect(stderr).to.contain('no node has a GPU: the job asks for none, as with --cpu-only');
      await agent.close();
    });

    it('asks for one while there is no node, or when a node has one', async () => {
      expect((await submit(['sh', 'train.sh'])).job.resources).to.include({ cpu_only: false });
      const agent = await connect(os.hostname(), 1);
      const { job, stderr } = await submit(['sh', 'train.sh']);
      expect(job.resources).to.include({ gpu: 1, cpu_only: false });
      expect(stderr).not.to.contain('GPU');
      await agent.close();
    });

    it('says that the job waits when no node has as many as were asked for', async () => {
      expect((await submit(['--gpu', '1', 'sh', 'train.sh'])).stderr).not.to.contain('GPU');
      const agents = [await connect(os.hostname())];
      const one = await submit(['--gpu', '1', 'sh', 'train.sh']);
      expect(one.job.resources).to.include({ gpu: 1, cpu_only: false });
      expect(one.stderr).to.contain('no node has a GPU: the job waits until such a node connects\n');
      agents.push(await connect('elsewhere', 1));
      expect((await submit(['--gpu', '1', 'sh', 'train.sh'])).stderr).not.to.contain('no node');
      expect((await submit(['--gpu', '2', 'sh', 'train.sh'])).stderr).to.contain('no node has 2 GPUs: ');
      expect((await submit(['--gpu', '0', 'sh', 'train.sh'])).stderr).not.to.contain('no node');
      await Promise.all(agents.map((agent) => agent.close()));
    });
  });

  it('says that the job waits when the nodes with GPUs cannot use its runner', async () => {
    const runners = [{ name: 'docker', available: false, reason: 'no engine answers', version: null }];
    const agents = [await connect('a', 8, { runners }), await connect('b')];
    const { stderr } = await refuse('--runner', 'docker', '--image', 'x', 'sh');
    expect(stderr).to.contain(
      'no node with a GPU can use the runner docker now, and the job waits until one can: a: no engine answers\n',
    );
    await Promise.all(agents.map((agent) => agent.close()));
  });

  describe('a command that will hardly start', () => {
    const warned = async (...words: string[]) => (await submit(['--cpu-only', ...words])).stderr;

    it('is submitted with a word about what to write instead', async () => {
      expect(await warned('train.sh')).to.contain(
        'train.sh is no program on the PATH here, so the job may fail: write sh train.sh, or ./train.sh after chmod +x train.sh\n',
      );
      expect(await warned('./train.sh'))
        .to.contain('./train.sh cannot be executed here')
        .and.contain('chmod');
      expect(await warned('sh train.sh')).to.contain('leave out the quotes around the command');
      expect(await warned('--upload', '.', 'train.sh')).to.contain('write sh train.sh');
    });

    it('is not seen in one that starts, or that starts where nobody knows what is there', async () => {
      chmodSync('train.sh', 0o700);
      for (const words of [['sh', 'train.sh'], ['./train.sh']])
        expect(await warned(...words)).not.to.contain('may fail');
      expect(await warned('--no-working-dir', 'train.sh')).not.to.contain('may fail');
      expect(await warned('--env', `PATH=${process.cwd()}`, 'train.sh')).not.to.contain('may fail');
    });
  });

  describe('the command', () => {
    for (const words of [
      ['python', 'train.py', '--epochs', '3'],
      ['echo', 'a', '--name', 'x', '--gpu', '9'],
    ])
      it(`"${words.join(' ')}" arrives whole without --`, async () => {
        const { job } = await submit(['--cpu-only', ...words]);
        expect(job.command).to.deep.equal(words);
        expect(job).to.deep.include({ resources: { gpu: 0, cpu_only: true } });
        expect(job.name).not.to.equal('x');
      });

    it('is tried again for the reasons that the help of --max-attempts names', () => {
      const submit = createProgram().commands.find((command) => command.name() === 'submit');
      const help = submit?.options.find(({ long }) => long === '--max-attempts')?.description ?? '';
      const [, retried = '', never = ''] = /retried are (.*), never (.*)/.exec(help) ?? [];
      for (const reason of FAILURE_REASONS) {
        const isRetried = RETRIED_REASONS.some((each) => each === reason);
        expect(isRetried ? retried : never, reason).to.match(new RegExp(`\\b${reason}\\b`));
        expect(isRetried ? never : retried, reason).not.to.match(new RegExp(`\\b${reason}\\b`));
      }
    });
  });

  describe('the working directory', () => {
    it('is this one, or the one that is named, relative to this one', async () => {
      expect((await submit(['true'])).job.working_dir).to.equal(path.join(dir, 'project'));
      const named = await submit(['--working-dir', 'sub', 'true']);
      expect(named.job.working_dir).to.equal(path.join(dir, 'project', 'sub'));
      expect((await submit(['--no-working-dir', 'true'])).job.working_dir).to.equal(null);
    });

    it('is no empty word', async () => {
      const { status, stderr } = await refuse('--working-dir', '', 'true');
      expect(status).to.equal(2);
      expect(stderr).to.contain('--working-dir is empty').and.contain('--no-working-dir');
    });

    it('binds the job to this host when other nodes are online', async () => {
      const agents = [await connect(os.hostname()), await connect('elsewhere')];
      const { job, stderr } = await submit(['true']);
      expect(job.node_selector).to.deep.equal({ hostname: os.hostname() });
      expect(stderr).to.contain('the job runs on this host alone');
      const chosen = await submit(['--node-selector', 'node=elsewhere', 'true']);
      expect(chosen.job.node_selector).to.deep.equal({ node: 'elsewhere' });
      expect(chosen.stderr).to.contain('may lack this directory');
      const named = await submit(['--working-dir', '.', 'true']);
      expect(named.job.node_selector).to.deep.equal({});
      await Promise.all(agents.map((agent) => agent.close()));
    });

    it('is not sent to a server on another host, and that is said', async () => {
      const client = createClient({ url: 'http://192.0.2.1:8600', token: null });
      const { stderr, found } = await withStderr(() =>
        completeFromHere(client, { maxUploadMb: 1, venv: true, cpuOnly: true, dataDir: dir }),
      );
      expect(found).to.deep.equal({});
      expect(stderr).to.equal(
        'the server is on another host: the job runs in an empty directory; --upload sends this one\n',
      );
      const chosen = await withStderr(() =>
        completeFromHere(client, {
          maxUploadMb: 1,
          venv: true,
          cpuOnly: true,
          dataDir: dir,
          workingDir: false,
        }),
      );
      expect(chosen).to.deep.equal({ stderr: '', found: {} });
    });
  });

  describe('--upload', () => {
    it('gives the job a snapshot, which svc job names', async () => {
      const { job } = await submit(['--upload', '.', 'sh', 'train.sh']);
      const { stdout } = await runHere(['job', job.id], env);
      expect(job.snapshot).to.match(/^[0-9a-f]{64}$/);
      expect(stdout).to.contain(`a copy of snapshot ${job.snapshot?.slice(0, 12)}`);
    });

    it('refuses a directory that is not there, and a word that is no program, with the remedy', async () => {
      for (const word of ['./projct', 'projct', '']) {
        const { status, stderr } = await refuse('--upload', word, 'sh', 'train.sh');
        expect(status).to.equal(2);
        expect(stderr).to.contain('there is no such directory').and.contain('--upload .');
      }
    });

    it('refuses more than --max-upload-mb', async () => {
      writeFileSync('notes.txt', 'x'.repeat(2 * MIB));
      const { status, stderr } = await refuse('--upload', '.', '--max-upload-mb', '1', 'sh', 'train.sh');
      expect(status).to.equal(1);
      expect(stderr).to.contain('a snapshot at most 1 MiB').and.contain('raise --max-upload-mb');
    });

    it('says what to do when the directory for temporary files is full, or is none', async function () {
      writeFileSync('notes.txt', randomBytes(2 * MIB));
      const full = path.join(dir, 'full');
      mkdirSync(full);
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', full]).status !== 0) this.skip();
      try {
        for (const TMPDIR of [full, path.join(dir, 'none')]) {
          const args = ['submit', '--upload', '.', '--max-upload-mb', '4', 'sh', 'train.sh'];
          const { status, stderr } = await runHere(args, { ...env, TMPDIR });
          expect(status).to.equal(1);
          expect(stderr).to.match(
            /^svc: (there is no room|no file can be made \(ENOENT.*\)) in \S+, where svc packs/m,
          );
          expect(stderr).to.contain('set TMPDIR to another directory\n');
          expect(readdirSync(full)).to.deep.equal([]);
        }
      } finally {
        execFileSync('umount', [full]);
      }
    });

    it("says the server's own limit, and the option that raises it", async () => {
      writeFileSync('notes.txt', randomBytes(2 * MIB));
      const { status, stderr } = await refuse('--upload', '.', 'sh', 'train.sh');
      expect(status).to.equal(1);
      expect(stderr).to.contain('2 MiB').and.contain('of at most 1 MiB').and.contain('max_mb');
      expect(stderr).not.to.contain('bytes');
    });
  });
});

describe('a server is on this host', () => {
  const nowhere = path.join(os.tmpdir(), 'svc-no-such-data-directory');

  it('by loopback, by an address or the name of this host, and by its data directory', async () => {
    const own = Object.values(os.networkInterfaces()).flatMap((all) => all ?? []);
    const addresses = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
    for (const name of ['localhost', '127.0.0.1', '127.0.1.1', '[::1]', '0.0.0.0', ...addresses])
      expect(await isOnThisHost(`http://${name}:8600`, nowhere), name).to.equal(true);
  });

  it('but not by the address of another one, or a name that leads nowhere', async () => {
    for (const name of ['192.0.2.1', '[2001:db8::1]', 'name.invalid'])
      expect(await isOnThisHost(`http://${name}:8600`, nowhere), name).to.equal(false);
  });

  it('when it works on the local data directory', async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'svc-here-'));
    writeFileSync(serverFile(dataDir), JSON.stringify(toLocalServer('http://name.invalid:8600')));
    expect(await isOnThisHost('http://name.invalid:8600/', dataDir)).to.equal(true);
    rmSync(dataDir, { recursive: true });
  });
});

describe('a job in a directory of this host', () => {
  const node = (hostname: string, gpus = 0, more: Partial<NodeRecord> = {}) =>
    ({
      id: hostname,
      name: hostname,
      hostname,
      status: 'ONLINE',
      labels: {},
      slots: virtualSlots(gpus),
      ...more,
    }) as NodeRecord;
  const bind = (nodes: NodeRecord[], gpu = 0, nodeSelector?: Record<string, string>) =>
    bindToThisHost({ nodes, gpu, nodeSelector, hostname: 'a' });

  it('is left alone where it can run on no other host', () => {
    const alone = { nodeSelector: null, sentence: null };
    expect(bind([])).to.deep.equal(alone);
    expect(bind([node('a'), node('a', 0, { id: 'second' })])).to.deep.equal(alone);
    expect(bind([node('a'), node('b', 0, { status: 'OFFLINE' })])).to.deep.equal(alone);
    expect(bind([node('a'), node('b')], 0, { hostname: 'a' })).to.deep.equal(alone);
  });

  it('is bound to this host, unless this host lacks the GPUs', () => {
    expect(bind([node('a'), node('b')]).nodeSelector).to.deep.equal({ hostname: 'a' });
    const { nodeSelector, sentence } = bind([node('a'), node('b', 8)], 1);
    expect(nodeSelector).to.equal(null);
    expect(sentence).to.contain('may lack this directory');
  });

  it('is warned of where this host has no node', () => {
    expect(bind([node('b')]))
      .to.include({ nodeSelector: null })
      .and.property('sentence')
      .contain('--upload');
  });
});

async function withStderr<T>(work: () => Promise<T>): Promise<{ stderr: string; found: T }> {
  const { write } = process.stderr;
  let stderr = '';
  process.stderr.write = (piece: string | Uint8Array) => {
    stderr += String(piece);
    return true;
  };
  try {
    return { found: await work(), stderr };
  } finally {
    process.stderr.write = write;
  }
}
