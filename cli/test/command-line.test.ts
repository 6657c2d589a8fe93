import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../src/main.js';
import { execute } from '../src/run-program.js';

const SOURCE = fileURLToPath(new URL('./fixtures/svc.ts', import.meta.url));
const ENV = { SVC_DATA_DIR: '/nonexistent', SVC_URL: 'http://127.0.0.1:9', SVC_TOKEN: '' };

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process; what it writes is kept back. */
async function svc(...args: string[]): Promise<Ended> {
  const before = { ...process.env };
  const written = { stdout: keepBack(process.stdout), stderr: keepBack(process.stderr) };
  Object.assign(process.env, ENV);
  try {
    const status = await execute(createProgram(), ['node', 'svc', ...args]);
    return { status, stdout: written.stdout.release(), stderr: written.stderr.release() };
  } finally {
    written.stdout.release();
    written.stderr.release();
    process.env = before;
  }
}

function keepBack(stream: NodeJS.WriteStream): { release: () => string } {
  const { write } = stream;
  let text = '';
  stream.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  return {
    release() {
      stream.write = write;
      return text;
    },
  };
}

/** The same as a program of its own. */
function runSvc(...args: string[]): Promise<Ended> {
  const nodeArgs = ['--import=tsx', '--conditions=svc-source', SOURCE, ...args];
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      nodeArgs,
      { env: { ...process.env, ...ENV } },
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
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

  it('--help and --version are done', async () => {
    const help = await svc('--help');
    expect(help.status).to.equal(0);
    expect(help.stdout).to.match(/^Usage: svc/);
    expect(await svc('--version')).to.deep.equal({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });

  it('the program ends with that status', async () => {
    const { status, stdout, stderr } = await runSvc('jobs', '--limit', 'many');
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
