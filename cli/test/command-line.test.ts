import type { Command } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../src/main.js';
import { runHere, startSvc, type Ended } from './support/svc.js';

const ENV = { SVC_DATA_DIR: '/nonexistent', SVC_URL: 'http://127.0.0.1:9', SVC_TOKEN: '' };

const svc = (...args: string[]): Promise<Ended> => runHere(args, ENV);

/** The commands that do something by themselves. */
function doers(command: Command): Command[] {
  const { _actionHandler: doesSomething } = command as Command & { _actionHandler?: unknown };
  return [...(doesSomething ? [command] : []), ...command.commands.flatMap(doers)];
}

describe('the command line', () => {
  for (const command of doers(createProgram())) {
    it(`svc ${command.name()} has a description, help and an example`, () => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(command.description()).to.not.equal('');
      expect(help).to.match(/Examples?:\n {2}.*svc /);
      for (const option of command.options) expect(option.description, option.flags).to.not.equal('');
    });
  }

  it('no help has words of the library that makes it', () => {
    const inherited = /\(choices: |display help|output the version/;
    const program = createProgram();
    for (const command of [program, ...program.commands, ...doers(program)])
      expect(command.helpInformation(), command.name()).to.not.match(inherited);
  });

  it('every help shows the options of the command itself before those of the server', () => {
    for (const command of doers(createProgram())) {
      const help = command.helpInformation();
      const at = help.indexOf('Server options:');
      if (at !== -1) expect(help.indexOf('\nOptions:'), command.name()).to.be.within(0, at);
    }
  });

  it('--help and --version are done', async () => {
    const help = await svc('--help');
    expect(help.status).to.equal(0);
    expect(help.stdout).to.match(/^Usage: svc/);
    expect(await svc('--version')).to.deep.equal({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });

  it('the program ends with that status', async () => {
    const { status, stdout, stderr } = await startSvc(['jobs', '--limit', 'many'], ENV).ended;
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.match(/^error: .*--limit.* It must be an integer\.\n/);
  });

  const wrong = [
    ['no-such-command'],
    ['jobs', '--status', 'SLEEPING'],
    ['jobs', '--limit', 'many'],
    ['submit'],
    ['submit', '--env', '=x', '--', 'true'],
    ['submit', '--follow', '--json', '--', 'true'],
    ['token', 'create', '--name', 'x', '--scope', 'admin'],
    ['token', 'create', '--name', 'x', '--scope', 'read', '--expires', 'soon'],
    ['whoami', '--url', 'nonsense'],
    ['whoami', '--url', 'http://127.0.0.1:9', '--profile', 'lab'],
    ['events', '--severity', 'loud'],
    ['events', 'watch', '--exec'],
    ['events', 'watch', 'true'],
    ['run', 'tag', 'X8R2QF'],
    ['run', 'rename', 'X8R2QF'],
    ['run', 'finish', 'X8R2QF', '--status', 'LOST'],
    ['resubmit'],
    ['resubmit', '--follow', '--json', 'X8R2QF'],
    ['resubmit', '--gpu', 'many', 'X8R2QF'],
    ['run', 'delete'],
    ['run', 'delete', 'X8R2QF'],
    ['metrics', 'set', 'loss'],
    ['metrics', 'set', 'loss', '--direction', 'up'],
    ['mcp', '--max-tokens', '10'],
    ['mcp', '--port', '70000'],
    ['mcp', '--print-config', '--port', '0'],
    ['gc', '--state', 'failed', 'unknown', '--dry-run'],
  ];
  for (const args of wrong) {
    it(`svc ${args.join(' ')}: wrong usage`, async () => {
      const { status, stdout, stderr } = await svc(...args);
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.not.equal('').and.not.contain('    at ');
    });
  }

  it('a server that cannot be reached is a failure, told in one line', async () => {
    const { status, stdout, stderr } = await svc('jobs');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.equal(
      'svc: cannot reach http://127.0.0.1:9: is the server running? start it with: svc up\n',
    );
  });
});
