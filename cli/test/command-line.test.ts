import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../src/main.js';

const SOURCE = fileURLToPath(new URL('./fixtures/svc.ts', import.meta.url));

function svc(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const nodeArgs = ['--import=tsx', '--conditions=svc-source', SOURCE, ...args];
  const env = { PATH: process.env['PATH'], SVC_DATA_DIR: '/nonexistent', SVC_URL: 'http://127.0.0.1:9' };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, nodeArgs, { env }, (_error, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

describe('the command line', () => {
  for (const command of leaves(createProgram())) {
    it(`svc ${command.name()} has a description, help and an example`, () => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(command.description()).to.not.equal('');
      expect(help).to.match(/Examples?:\n {2}.*svc /);
      for (const option of command.options) expect(option.description, option.flags).to.not.equal('');
    });
  }

  it('--help is done', async () => {
    const { status, stdout } = await svc('--help');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^Usage: svc/);
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
