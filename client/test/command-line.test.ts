import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { parseCommandLine, toCommandLine, toSubmitCommand } from '../src/index.js';

const Word = fc.oneof(
  fc.string({ maxLength: 12 }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom(
    '',
    "it's",
    '"',
    '\\',
    '$HOME',
    '`id`',
    'a\nb',
    'A=1',
    '-x',
    '~',
    '*',
    '; rm -rf x',
    '\u001b[1m',
  ),
);

describe('a command line', () => {
  it('is quoted as a shell needs it', () => {
    expect(toCommandLine(['python3', '-c', "print('a b')", '--lr=0.1'])).to.equal(
      `python3 -c 'print('\\''a b'\\'')' --lr=0.1`,
    );
    expect(toCommandLine(['A=1', 'B=2'])).to.equal(`'A=1' B=2`);
  });

  it('is read by a real shell as the words that it was made of', () => {
    const words = ['', "it's", 'a b', '$HOME', '`id`', 'a\nb', '~', '*', '\\', '"x"', '; echo no', 'é'];
    const line = toCommandLine(['printf', '%s\\0', ...words]);
    const printed = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
    expect(printed.split('\0').slice(0, -1)).to.deep.equal(words);
  });

  it('is split into the words that it was made of', () => {
    fc.assert(
      fc.property(fc.array(Word), (words) => {
        expect(parseCommandLine(toCommandLine(words))).to.deep.equal({ words });
      }),
    );
  });

  const lines: [line: string, words: string[]][] = [
    ['', []],
    ['  python3   train.py\t--lr 0.1\n', ['python3', 'train.py', '--lr', '0.1']],
    ['a"b c"d', ['ab cd']],
    [`'a "b"' "it's" "\\"" "\\a" \\"`, ['a "b"', "it's", '"', '\\a', '"']],
    ['echo "" \'\'', ['echo', '', '']],
    ['python3 \\\n  train.py', ['python3', 'train.py']],
    ['echo $HOME | cat > x && *', ['echo', '$HOME', '|', 'cat', '>', 'x', '&&', '*']],
  ];
  for (const [line, words] of lines) {
    it(`is split by blanks and quotes: ${JSON.stringify(line)}`, () => {
      expect(parseCommandLine(line)).to.deep.equal({ words });
    });
  }

  const flaws: [line: string, flaw: string][] = [
    ["echo 'a", "a quotation mark ' is not closed"],
    ['echo "a\\"', 'a quotation mark " is not closed'],
    ['echo \\', 'it ends with a backslash'],
  ];
  for (const [line, flaw] of flaws) {
    it(`says what is wrong with ${line}`, () => expect(parseCommandLine(line)).to.deep.equal({ flaw }));
  }
});

describe('the command that submits a job', () => {
  it('names what differs from the defaults, and no value of a variable', () => {
    const words = toSubmitCommand({
      name: '-odd',
      command: ['python3', 'train.py', '--name', 'a b'],
      resources: { gpu: 2, cpu_only: false },
      runner: 'docker',
      runner_options: { image: 'torch:2.4', mounts: ['/data:/data:ro'], memory_mb: 2048 },
      priority: 5,
      max_attempts: 3,
      project: 'vision',
      experiment: 'lr sweep',
      env: { API_KEY: 'secret' },
      node_selector: { gpu_model: 'NVIDIA H100' },
    });
    expect(toCommandLine(words)).to.equal(
      `svc submit --name=-odd --gpu 2 --no-working-dir --project vision --experiment 'lr sweep' --runner docker --image torch:2.4 --runner-option 'mounts=["/data:/data:ro"]' --runner-option memory_mb=2048 --priority 5 --max-attempts 3 --node-selector 'gpu_model=NVIDIA H100' --env API_KEY -- python3 train.py --name 'a b'`,
    );
  });

  it('is short for a job of defaults, and takes no environment from the shell', () => {
    const body = {
      command: ['true'],
      resources: { cpu_only: true },
      working_dir: '/data',
      runner: 'process',
    };
    expect(toCommandLine(toSubmitCommand(body))).to.equal(
      'svc submit --cpu-only --working-dir /data --no-venv -- true',
    );
  });
});
