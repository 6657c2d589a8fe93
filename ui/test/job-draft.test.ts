import type { Job } from '@svc/contract';
import { expect } from 'chai';
import {
  EMPTY_DRAFT,
  findShellSign,
  toDefaultName,
  toDraft,
  toSubmit,
  type JobDraft,
} from '../src/data/job-draft.js';
import { parseOption, toOptionFields, toOptionText } from '../src/data/runner-options.js';
import { job } from './browser/harness/records.js';
import { DOCKER, OPEN, PROCESS } from './browser/harness/runners.js';

const RUNNERS = [PROCESS, DOCKER, OPEN];
const draft = (changes: Partial<JobDraft> = {}): JobDraft => ({
  ...EMPTY_DRAFT,
  line: 'python3 train.py',
  ...changes,
});
const submit = (changes: Partial<JobDraft> = {}) => {
  const given = draft(changes);
  return toSubmit(
    given,
    RUNNERS.find(({ name }) => name === given.runner),
  );
};
const NOWHERE = { project: '', experiment: '' };

describe('the draft of a job', () => {
  it('says with few words what is no default', () => {
    expect(submit()).to.deep.equal({
      body: {
        command: ['python3', 'train.py'],
        name: 'train.py',
        runner: 'process',
        resources: { gpu: 1 },
        priority: 0,
        max_attempts: 1,
      },
      issues: [],
    });
  });

  it('is split into arguments, or given to a shell as one', () => {
    expect(submit({ line: `python3 "a b" 'c'` }).body.command).to.deep.equal(['python3', 'a b', 'c']);
    expect(submit({ mode: 'shell', line: 'cd /x && ls | wc' }).body.command).to.deep.equal([
      'sh',
      '-c',
      'cd /x && ls | wc',
    ]);
  });

  const jobs: [string, Partial<Job>][] = [
    ['arguments', { command: ['python3', 'train.py', 'a b', "it's", ''] }],
    ['a shell', { command: ['/bin/bash', '-c', 'set -e; echo $X\nls'] }],
    ['a shell with more words', { command: ['sh', '-c', 'echo $0', 'x'] }],
    ['source files', { snapshot: 'a'.repeat(64) }],
    ['a directory', { working_dir: '/data/run' }],
    [
      'a place',
      { priority: -3, max_attempts: 4, node_selector: { gpu_model: 'H100', node: 'n', zone: 'a' } },
    ],
    ['no GPU', { resources: { gpu: 0, cpu_only: true } }],
    ['variables', { env: { A: '', LR: '0.1', LONG: 'a\nb' } }],
    [
      'a container',
      {
        runner: 'docker',
        runner_options: {
          image: 'torch:2',
          mounts: ['/a:/a', '/b:/b:ro'],
          entrypoint: [],
          cpus: 1.5,
          pull: 'always',
        },
      },
    ],
    ['odd lists', { runner: 'docker', runner_options: { image: 'x', entrypoint: ['[a', 'b\nc'] } }],
    ['options that no schema names', { runner: 'open', runner_options: { nice: 5, deep: { a: [1] } } }],
    ['another type', { type: 'EVALUATE' }],
  ];
  for (const [what, changes] of jobs) {
    it(`of a job submits that job again: ${what}`, () => {
      const from = job(1, changes);
      const given = toDraft(from, { project: 'vision', experiment: 'lr' }, RUNNERS);
      const { body, issues } = toSubmit(
        given,
        RUNNERS.find(({ name }) => name === from.runner),
      );
      expect(issues).to.deep.equal([]);
      expect({
        command: from.command,
        name: from.name,
        type: body.type ?? 'TRAIN',
        snapshot: body.snapshot ?? null,
        working_dir: body.working_dir ?? null,
        runner: from.runner,
        runner_options: body.runner_options ?? {},
        gpu: body.resources?.cpu_only ? 0 : body.resources?.gpu,
        priority: body.priority,
        max_attempts: body.max_attempts,
        node_selector: body.node_selector ?? {},
        env: body.env ?? {},
        project: body.project,
        experiment: body.experiment,
      }).to.deep.equal({
        command: from.command,
        name: from.name,
        type: from.type,
        snapshot: from.snapshot,
        working_dir: from.working_dir,
        runner: from.runner,
        runner_options: from.runner_options,
        gpu: from.resources.gpu,
        priority: from.priority,
        max_attempts: from.max_attempts,
        node_selector: from.node_selector,
        env: from.env,
        project: 'vision',
        experiment: 'lr',
      });
    });
  }

  it('copies no value that is hidden', () => {
    const given = toDraft(job(1, { env: { TOKEN: '***', LR: '1' } }), NOWHERE, RUNNERS);
    expect(given.env).to.deep.equal([
      { name: 'TOKEN', value: '' },
      { name: 'LR', value: '1' },
    ]);
  });

  const flaws: [string, Partial<JobDraft>, string, string][] = [
    ['no command', { line: ' ' }, 'command', 'must name a program'],
    ['an open quotation mark', { line: 'echo "a' }, 'command', 'a quotation mark " is not closed'],
    ['GPUs that are no number', { gpus: 'two' }, 'resources.gpu', 'must be a whole number'],
    ['half a priority', { priority: '0.5' }, 'priority', 'must be a whole number'],
    ['no number of attempts', { attempts: '' }, 'max_attempts', 'must be a whole number'],
    ['a value without a name', { env: [{ name: '', value: 'x' }] }, 'env', 'each variable needs a name'],
    [
      'a name twice',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      'env',
      'the variable A is there twice',
    ],
    [
      'an option that is no number',
      { runner: 'docker', options: { memory_mb: '1.5' } },
      'runner_options.memory_mb',
      'must be a whole number',
    ],
    [
      'an option that is no JSON',
      { runner: 'open', options: { deep: '{' } },
      'runner_options.deep',
      'must be JSON',
    ],
    [
      'further options that are none',
      { runner: 'open', furtherOptions: '[1]' },
      'runner_options',
      'must be a JSON object',
    ],
  ];
  for (const [what, changes, path, message] of flaws) {
    it(`says at which field what is wrong: ${what}`, () => {
      expect(submit(changes).issues).to.deep.equal([{ path, message }]);
    });
  }

  it('warns of signs that only a shell would act on', () => {
    const signs = [
      'a | b',
      'a > b',
      'a && b',
      'echo $HOME',
      'ls *.py',
      'python3 "a | b"',
      "python3 '$X'",
      'a=b',
    ];
    expect(signs.map((line) => findShellSign(draft({ line })))).to.deep.equal([
      '|',
      '>',
      '&&',
      '$',
      '*',
      null,
      null,
      null,
    ]);
    expect(findShellSign(draft({ mode: 'shell', line: 'a | b' }))).to.equal(null);
  });

  it('is named after its script or program', () => {
    expect(
      ['python3 -u src/train.py', '/bin/true', 'torchrun -m pkg.train', '', '"'].map((line) =>
        toDefaultName(draft({ line })),
      ),
    ).to.deep.equal(['train.py', 'true', 'pkg.train', '', '']);
  });
});

describe('the options of a runner', () => {
  it('are the fields of its schema, those that it needs first', () => {
    expect(
      toOptionFields(DOCKER).map(({ name, kind, isRequired }) => [name, kind, isRequired]),
    ).to.deep.equal([
      ['image', 'text', true],
      ['pull', 'choice', false],
      ['mounts', 'list', false],
      ['memory_mb', 'number', false],
      ['cpus', 'number', false],
      ['entrypoint', 'list', false],
    ]);
    expect(toOptionFields(PROCESS)).to.deep.equal([]);
  });

  it('are read as their schema has them, and left out when they are empty', () => {
    const [flag, deep] = toOptionFields(OPEN);
    expect([parseOption(flag!, 'true'), parseOption(flag!, 'false'), parseOption(flag!, '')]).to.deep.equal([
      true,
      false,
      undefined,
    ]);
    expect(parseOption(deep!, '{"a": 1}')).to.deep.equal({ a: 1 });
    const mounts = toOptionFields(DOCKER)[2]!;
    expect(parseOption(mounts, ' /a:/a \n\n/b:/b')).to.deep.equal(['/a:/a', '/b:/b']);
    expect(toOptionText(mounts, [])).to.equal('[]');
  });
});
