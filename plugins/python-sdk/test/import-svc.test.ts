import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createHost, type Host } from '../../runner-process/test/support/host.js';

const isRoot = process.getuid?.() === 0;
const SHOW = 'import svc; print(getattr(svc, "WHOSE", "ours"))';
const USERS = 'WHOSE = "theirs"\n';

describe('import svc in a job', function () {
  this.timeout(60_000);
  let host: Host;
  let folder: string;
  beforeEach(async () => {
    host = await createHost();
    folder = mkdtempSync(path.join(os.tmpdir(), 'svc-project-'));
  });
  afterEach(async () => {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (name: string, content: string): string => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  type Extras = Parameters<Host['run']>[1];
  async function run(command: readonly string[], extras: Extras = {}): Promise<string> {
    const key = host.run(command, extras);
    const { exit } = await host.server.ended(key);
    const output =
      readFileSync(host.file(key, 'stdout'), 'utf8') + readFileSync(host.file(key, 'stderr'), 'utf8');
    return exit?.kind === 'exited' && exit.code === 0 ? output.trim() : `failed: ${output}`;
  }
  const python = (code: string, extras: Extras = {}) => run(['python3', '-c', code], extras);
  const script = (extras: Extras = {}) => run(['python3', write('train.py', SHOW)], extras);

  it('finds the SDK of the agent, of its version, with all its modules', async () => {
    await host.startAgent();
    const version = readFileSync(new URL('../../../sdk/python/svc/version.py', import.meta.url), 'utf8');
    const code = 'import svc, svc.values; from svc.run import Run; print(svc.__file__, svc.__version__)';
    const [file = '', found] = (await python(code)).split(' ');
    expect(version).to.equal(`__version__ = "${found}"\n`);
    expect(path.relative(host.stateDir, file)).to.match(/^python-sdk\/[0-9a-f]{16}\/sdk\/svc\/__init__\.py$/);
  });

  it('finds it in the processes that a training starts', async () => {
    await host.startAgent();
    const file = write(
      'spawn.py',
      `
import multiprocessing, subprocess, sys
import svc
def work(queue): import svc; queue.put(svc.init is not None)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    context.Process(target=work, args=(queue,)).start()
    print(queue.get(), subprocess.run([sys.executable, "-c", "import svc; svc.init"]).returncode)`,
    );
    expect(await run(['python3', file])).to.equal('True 0');
  });

  it('comes after a module beside the script, a package there, and the PYTHONPATH of the job', async () => {
    await host.startAgent();
    write('library/svc/__init__.py', USERS);
    expect(await script({ env: { PYTHONPATH: path.join(folder, 'library') } })).to.equal('theirs');
    const own = write('svc.py', USERS);
    expect(await script()).to.equal('theirs');
    rmSync(own);
    write('svc/model.py', '');
    expect(await run(['python3', write('namespace.py', 'from svc import model; print("theirs")')])).to.equal(
      'theirs',
    );
  });

  it('does not take a folder without code for a package', async () => {
    await host.startAgent();
    write('svc/notes.txt', '');
    expect(await script()).to.equal('ours');
  });

  it('comes after a package that is installed in the virtual environment of the job', async () => {
    await host.startAgent();
    const venv = path.join(folder, 'venv');
    execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
    const inVenv = { PATH: `${venv}/bin:${process.env['PATH']}`, VIRTUAL_ENV: venv };
    expect(await script({ env: inVenv })).to.equal('ours');
    const [version = ''] = readdirSync(path.join(venv, 'lib'));
    write(path.join('venv', 'lib', version, 'site-packages', 'svc', '__init__.py'), USERS);
    expect(await script({ env: inVenv })).to.equal('theirs');
    expect(await script({ env: { ...inVenv, PYTHONPATH: '/nowhere' } })).to.equal('theirs');
  });

  it('comes after the PYTHONPATH of the agent, which the job has too', async () => {
    write('library/other.py', '');
    const before = process.env['PYTHONPATH'];
    process.env['PYTHONPATH'] = path.join(folder, 'library');
    try {
      await host.startAgent();
      expect(await python('import other, svc; print(svc.__version__ != "")')).to.equal('True');
    } finally {
      if (before === undefined) delete process.env['PYTHONPATH'];
      else process.env['PYTHONPATH'] = before;
    }
  });

  it('does not reach a Python that ignores its environment, as the documentation says', async () => {
    await host.startAgent();
    for (const option of ['-I', '-E'])
      expect(await run(['python3', option, '-c', SHOW])).to.include("No module named 'svc'");
  });

  it('leaves other runners alone', async () => {
    await host.startAgent();
    expect(await run(['sh', '-c', 'echo "$PYTHONPATH"'])).to.match(/\/entry$/);
    const { default: pythonSdk } = await import('../src/agent.js');
    const { default: config } = await import('../../runner-process/test/support/agent-config.js');
    await host.closeAgent();
    const plugins = config.plugins.map((plugin) =>
      plugin.name === 'python-sdk' ? pythonSdk(['docker']) : plugin,
    );
    await host.startAgent({ plugins });
    expect(await run(['sh', '-c', 'echo "<$PYTHONPATH>"'])).to.equal('<>');
  });

  it('lets a job run without it when it cannot be written, and says so in the log of the agent', async () => {
    await host.startAgent();
    const place = path.join(host.stateDir, 'python-sdk');
    writeFileSync(place, '');
    expect(await python(SHOW)).to.include("No module named 'svc'");
    expect(host.logged.join('')).to.include('the job starts without the Python SDK');
    rmSync(place);
    expect(await python(SHOW), 'once there is room again').to.equal('ours');
  });

  it('is readable by the user of the job, who cannot change it, under any umask', async function () {
    if (!isRoot) return this.skip();
    const before = process.umask(0o077);
    try {
      await host.startAgent({ runAs: 'nobody' });
      expect(await python(SHOW)).to.equal('ours');
      const copy = (await python('import svc, os; print(os.path.dirname(svc.__file__))')) as string;
      expect([copy, path.join(copy, 'run.py')].map((file) => statSync(file).mode & 0o777)).to.deep.equal([
        0o755, 0o444,
      ]);
      expect(readdirSync(copy)).not.to.include('__pycache__');
    } finally {
      process.umask(before);
    }
  });
});
