import { expect } from 'chai';
import { splitCommand } from '../../src/commands/submit.js';
import { UsageError } from '../../src/failure.js';
import { toJobName } from '@svc/client';
import { findPythonEnvironment } from '../../src/submit/python-environment.js';

describe('the name of a job that was given none', () => {
  const cases: [string[], string | undefined][] = [
    [['python3', 'train.py', '--epochs', '3'], 'train.py'],
    [['/opt/venv/bin/python3.11', '-u', 'src/train.py'], 'train.py'],
    [['python', '-m', 'pkg.train', '--x'], 'pkg.train'],
    [['torchrun', '--nproc_per_node', '4', 'train.py'], 'train.py'],
    [['bash', 'run.sh'], 'run.sh'],
    [['uv', 'run', 'train.py'], 'train.py'],
    [['python3', '-c', 'print(1)'], undefined],
    [['./train.py'], undefined],
    [['./my-tool', 'notes.py'], undefined],
  ];
  for (const [command, name] of cases)
    it(`${command.join(' ')}: ${name ?? 'as the server has it'}`, () =>
      void expect(toJobName(command)).to.equal(name));
});

describe('the Python environment of this shell', () => {
  it('is the virtual environment, before that of conda', () => {
    const shell = { VIRTUAL_ENV: '/p/.venv', CONDA_PREFIX: '/c', PATH: '/p/.venv/bin:/usr/bin' };
    expect(findPythonEnvironment(shell)).to.deep.equal({
      directory: '/p/.venv',
      env: { VIRTUAL_ENV: '/p/.venv', PATH: '/p/.venv/bin:/usr/bin' },
    });
  });

  it('is that of conda with its name', () => {
    const shell = { CONDA_PREFIX: '/c/envs/t', CONDA_DEFAULT_ENV: 't', PATH: '/c/envs/t/bin:/bin' };
    expect(findPythonEnvironment(shell)?.env).to.deep.equal(shell);
  });

  it('is none where none is active', () => {
    expect(findPythonEnvironment({ PATH: '/usr/bin' })).to.equal(null);
  });
});

describe('svc submit --upload WORD', () => {
  it('takes a directory as what is uploaded', () => {
    expect(splitCommand(['true'], { upload: '/tmp' })).to.deep.equal({ command: ['true'], upload: '/tmp' });
  });

  it('takes anything else as the first word of the command, and uploads this directory', () => {
    const split = splitCommand(['train.py'], { upload: 'python3' });
    expect(split).to.deep.equal({ command: ['python3', 'train.py'], upload: true });
  });

  it('says what is missing when no command is there', () => {
    expect(() => splitCommand([], { upload: '/tmp' })).to.throw(UsageError, 'what is to be run?');
  });
});
