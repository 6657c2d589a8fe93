import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { CALLS, installPackages, toConfigText, writeConfig } from '../support/configuration.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, type Workplace } from '../support/workplace.js';

/** What `svc config print` answers. */
interface Printed {
  readonly plugins: readonly { readonly name: string; readonly options: Readonly<Record<string, unknown>> }[];
}

describe('svc config print', function () {
  this.timeout(60_000);
  let workplace: Workplace;
  beforeEach(() => (workplace = createWorkplace()));
  afterEach(() => workplace.close());

  it('shows what is in force, without secrets', async () => {
    const url = 'postgres://svc:hush@db.example/svc';
    const { status, stdout } = await workplace.svc(['config', 'print', '--port', '9'], {
      SVC_DATABASE_URL: url,
    });
    expect(status).to.equal(0);
    expect(stdout).to.not.contain('hush');
    expect(JSON.parse(stdout)).to.deep.include({ port: 9, dataDir: workplace.dataDir });
  });

  it('shows every setting and option of docs/configuration.md, with its value in force', async () => {
    installPackages(workplace.dir);
    const calls = CALLS.map((call) => (call === 'jobs()' ? 'jobs({ kill_grace_s: 30 })' : call));
    const text = toConfigText(calls).replace('defineConfig({', "defineConfig({ port: 7, host: '0.0.0.0',");
    const args = ['config', 'print', '--config', writeConfig(workplace.dir, text), '--port', '9'];
    const { status, stdout, stderr } = await workplace.svc(args, { SVC_PORT: '8', SVC_LOG_LEVEL: 'warn' });
    expect(status, stderr).to.equal(0);
    const { plugins, ...settings } = JSON.parse(stdout) as Printed;
    expect(settings).to.include({ host: '0.0.0.0', port: 9, logLevel: 'warn' });
    const page = readFileSync(path.join(ROOT, 'docs', 'configuration.md'), 'utf8');
    const [settingsTable = '', optionsTable = ''] = page.split('## ');
    const documented = [...settingsTable.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
      cell.match(/\w+/g),
    );
    expect({ ...settings, plugins }).to.include.all.keys(documented);
    for (const [, plugin, option, shown = ''] of optionsTable.matchAll(
      /^\| `([\w-]+)` \| `(\w+)` \| (.*?) \|/gm,
    )) {
      const { options } = plugins.find(({ name }) => name === plugin)!;
      const value = option === 'kill_grace_s' ? 30 : Number(shown);
      if (shown !== '' && !Number.isNaN(value)) expect(options[option ?? ''], option).to.equal(value);
    }
    expect(plugins).to.have.length(CALLS.length);
  });
});
