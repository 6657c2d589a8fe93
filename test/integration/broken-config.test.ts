import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { CALLS, installPackages, toConfigText, writeConfig } from '../support/configuration.js';
import { createWorkplace, type Workplace } from '../support/workplace.js';

const replaced = (call: string, ...by: string[]) => CALLS.flatMap((known) => (known === call ? by : [known]));

interface Case {
  readonly name: string;
  readonly text: string;
  /** A piece of the line that the message must point at. */
  readonly line: string;
  readonly message: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: 'a syntax error',
    text: toConfigText(replaced('jobs()', 'jobs(}')),
    line: 'jobs(}',
    message: /Unexpected token/i,
  },
  {
    name: 'an unknown option of a plugin',
    text: toConfigText(replaced('jobs()', 'jobs({ kill_grace: 5 } as never)')),
    line: 'kill_grace',
    message: /plugin "jobs", option kill_grace: unknown field/,
  },
  {
    name: 'a requirement that is missing',
    text: toConfigText(replaced('nodes()')),
    line: '    jobs(),',
    message: /plugin "jobs" requires "nodes", which is not in svc\.config\.ts; add nodes\(\) to plugins/,
  },
  {
    name: 'two plugins of one name',
    text: toConfigText(replaced('logs()', 'logs()', 'logs( )')),
    line: 'logs( )',
    message: /plugin "logs" is there twice; remove one logs\(\)/,
  },
  {
    name: 'a factory that is not called',
    text: toConfigText(replaced('runs()', 'runs')),
    line: '    runs,',
    message: /is a factory: call it/,
  },
  {
    name: 'an unknown setting',
    text: toConfigText().replace('  plugins: [', '  prot: 8600,\n  plugins: ['),
    line: 'prot: 8600',
    message: /prot: unknown field; did you mean "port"\?/,
  },
  {
    name: 'a setting of the wrong type',
    text: toConfigText().replace('  plugins: [', `  port: 'many',\n  plugins: [`),
    line: `port: 'many'`,
    message: /port: must be an integer, not a string/,
  },
];

describe('a broken svc.config.ts stops the boot and says the line to change', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  beforeEach(() => {
    workplace = createWorkplace();
    installPackages(workplace.dir);
  });
  afterEach(() => workplace.close());

  for (const { name, text, line, message } of CASES) {
    it(name, async () => {
      const file = writeConfig(workplace.dir, text);
      const { status, stdout, stderr } = await workplace.svc(['server', '--config', file]);
      const number = text.split('\n').findIndex((candidate) => candidate.includes(line)) + 1;
      expect(number, 'the case itself').to.be.greaterThan(0);
      expect({ status, stdout }, stderr).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr)
        .to.match(message)
        .and.match(new RegExp(`svc\\.config\\.ts:${number}(:\\d+)?: `));
      expect(stderr.trimEnd().split('\n'), 'one line').to.have.length(1);
      expect(existsSync(path.join(workplace.dataDir, 'server.json'))).to.equal(false);
    });
  }

  it('a file that is not there', async () => {
    const { status, stderr } = await workplace.svc([
      'server',
      '--config',
      `${workplace.dir}/nowhere.config.ts`,
    ]);
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: there is no \S*nowhere\.config\.ts/);
  });

  it('the same plugins in order boot', async () => {
    const file = writeConfig(workplace.dir, toConfigText());
    const { url } = await workplace.startServer({ args: ['--config', file] });
    expect((await fetch(`${url}/api/v1/health`)).status).to.equal(200);
  });

  it('a port that is taken is said without a stack', async () => {
    const file = writeConfig(workplace.dir, toConfigText());
    const { url } = await workplace.startServer({ args: ['--config', file] });
    const { port } = new URL(url);
    const args = ['server', '--config', file, '--port', port, '--data-dir', `${workplace.dir}/other`];
    const { status, stderr } = await workplace.svc(args);
    expect(status).to.equal(1);
    expect(stderr).to.contain(port).and.not.contain('    at ');
  });

  it('a second server on one data directory is refused', async () => {
    const file = writeConfig(workplace.dir, toConfigText());
    const { client } = await workplace.startServer({ args: ['--config', file] });
    const { status, stderr } = await workplace.svc(['server', '--config', file, '--port', '0']);
    expect(status).to.equal(1);
    expect(stderr)
      .to.match(/^svc: a server is running on the data directory/)
      .and.contain(`it is at ${client.connection.url} (process `);
    expect((await fetch(`${client.connection.url}/api/v1/health`)).status).to.equal(200);
  });
});
