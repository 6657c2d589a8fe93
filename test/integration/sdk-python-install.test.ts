import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { readMentions } from '../support/page.js';
import { ROOT, startProgram } from '../support/program.js';

const TRAINING = `
import svc
run = svc.init(name="installed")
run.log({"loss": 0.5})
run.finish()
print(svc.__file__)`;

describe('the installation of the Python SDK, as docs/sdk.md shows it', function () {
  this.timeout(120_000);
  let dir: string;
  let env: Record<string, string | undefined>;
  before(async function () {
    const python = requireEngine(this, 'venv');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-sdk-install-'));
    env = {
      PATH: `${dir}/venv/bin:${process.env['PATH']}`,
      HOME: dir,
      SVC_MODE: 'offline',
      // Nothing is fetched: pip would fail.
      PIP_NO_INDEX: '1',
      PIP_CONFIG_FILE: os.devNull,
    };
    await type([python, '-m', 'venv', path.join(dir, 'venv')]);
  });
  after(() => dir && rmSync(dir, { recursive: true, force: true }));

  async function type([program = '', ...args]: readonly string[], cwd = dir): Promise<string> {
    const { status, stdout, stderr } = await startProgram(program, args, env, cwd).ended;
    expect(status, `${stdout}\n${stderr}`).to.equal(0);
    return stdout;
  }
  const train = () => type(['python3', '-c', TRAINING]);

  it('needs no network, and is found from every folder', async () => {
    const [command = ''] = readMentions('docs/sdk.md', 'pip');
    await type(command.split(' '), ROOT);
    expect(await train()).to.match(/\/venv\/lib\/.*\/site-packages\/svc\/__init__\.py$/m);
    await type(['pip', 'check']);
    expect(await type(['pip', 'show', '--files', 'svc-sdk'])).to.contain('svc/py.typed');
    await type(['pip', 'uninstall', '--yes', 'svc-sdk']);
  });

  it('with -e it leads to the sources', async () => {
    await type(['pip', 'install', '-e', './sdk/python'], ROOT);
    expect(await train()).to.contain(path.join(ROOT, 'sdk', 'python', 'svc', '__init__.py'));
  });
});
