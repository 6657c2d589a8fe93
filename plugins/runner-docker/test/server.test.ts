import type { JobDraft } from '@svc/contract';
import { dockerRunner, type DockerPlan } from '@svc/plugin-runner-docker';
import { compileCheck } from '@svc/validation';
import { expect } from 'chai';

const runner = dockerRunner();
const checkSchema = compileCheck(runner.optionsSchema);
const draft = (given: Partial<JobDraft> = {}) => ({ working_dir: null, ...given }) as JobDraft;

/** What a submit is told of these options: as the server does it, the schema first. */
function flawsOf(options: Record<string, unknown>, given: Partial<JobDraft> = {}): string[] {
  const complete = { image: 'python:3.12', ...options };
  const issues = checkSchema(complete);
  const found = issues.length > 0 ? issues : (runner.check?.(complete as never, draft(given)) ?? []);
  return found.map(({ path, message }) => `${path} ${message}`);
}

describe('the server half of the Docker runner', () => {
  for (const image of [
    'python',
    'python:3.12-slim',
    'pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime',
    'localhost:5000/team/train',
    'registry.example.org/a/b/c:V1.2_x',
    `nvcr.io/nvidia/pytorch@sha256:${'0'.repeat(64)}`,
    `nvcr.io/nvidia/pytorch:24.05-py3@sha256:${'0'.repeat(64)}`,
    `sha256:${'a'.repeat(64)}`,
  ])
    it(`takes the image ${image.slice(0, 60)}`, () => expect(flawsOf({ image })).to.deep.equal([]));

  const refused: [what: string, options: Record<string, unknown>, flaw: RegExp][] = [
    ['no image', { image: undefined }, /^image /],
    ['an image in upper case', { image: 'Team/Train:V1' }, /in lower case: team\/train:v1$/],
    ['an address', { image: 'https://registry.example.org/x' }, /must not begin with a scheme/],
    ['an image with a blank', { image: 'python 3' }, /must name an image, such as python:3\.12/],
    ['an option of the engine', { image: '--privileged' }, /must name an image/],
    ['an empty tag', { image: 'python:' }, /must name an image/],
    ['an unknown option', { privileged: true }, /privileged/],
    ['another pull policy', { pull: 'sometimes' }, /^pull /],
    ['the network of a container', { network: 'container:abc' }, /network of another container cannot/],
    ['a user with a blank', { user: 'a b' }, /such as 1000:1000/],
    ['an entrypoint without a program', { entrypoint: [''] }, /entrypoint\[0\] must name a program/],
    ['a relative working directory', { working_dir: 'src' }, /working_dir must be absolute/],
    ['a mount without a target', { mounts: ['/data'] }, /mounts\[0\] must be SOURCE:TARGET/],
    ['a mount with another mode', { mounts: ['/data:/data:rshared'] }, /mounts\[0\] must be SOURCE:TARGET/],
    ['a relative source', { mounts: ['data:/data'] }, /the source must be absolute/],
    ['a relative target', { mounts: ['/data:data'] }, /the target must be absolute/],
    ['..', { mounts: ['/data/../etc:/data'] }, /the source must not contain \.\./],
    ['a line break', { mounts: ['/data\n/x:/data'] }, /the source must not contain a control character/],
    ['the whole host', { mounts: ['/.//:/host'] }, /the whole host cannot be mounted/],
    ['a mount onto /', { mounts: ['/data://.'] }, /the target must be below \//],
    ['a mount into /proc', { mounts: ['/data:/proc/1'] }, /the target must not be \/proc\/1/],
    ['a mount onto /dev', { mounts: ['/data:/dev/'] }, /the target must not be \/dev/],
    [
      'two mounts of one target',
      { mounts: ['/a:/data', '/b:/data/:ro'] },
      /mounts\[1\] has the target \/data, as mounts\[0\]/,
    ],
    ['too little memory', { memory_mb: 5 }, /^memory_mb /],
    ['no processor', { cpus: 0 }, /^cpus /],
    ['a negative size', { shm_size_mb: -1 }, /^shm_size_mb /],
  ];
  for (const [what, options, flaw] of refused)
    it(`refuses ${what}`, () => {
      const flaws = flawsOf(options);
      expect(flaws).to.have.length(1);
      expect(flaws[0]).to.match(flaw);
    });

  it('refuses a working directory that cannot be mounted at its place, and a mount onto it', () => {
    expect(flawsOf({}, { working_dir: '/' })[0]).to.match(/^working_dir must be below \//);
    expect(flawsOf({}, { working_dir: '/data/../etc' })[0]).to.match(/^working_dir must not contain \.\./);
    expect(flawsOf({ mounts: ['/x:/project'] }, { working_dir: '/project/' })[0]).to.match(
      /has the target \/project, as the working directory/,
    );
  });

  it('answers long and strange names at once', () => {
    for (const image of [
      'a'.repeat(512),
      'a-'.repeat(256),
      'a.'.repeat(256),
      `${'a/'.repeat(255)}A`,
      '_'.repeat(512),
    ])
      flawsOf({ image });
  });

  it('plans what the job says, and null for what it leaves open', async () => {
    const plan = (options: object) =>
      runner.plan(
        { image: 'x', ...options } as never,
        { command: ['train', '--lr', '0.1'] } as never,
      ) as DockerPlan;
    expect(plan({})).to.deep.equal({
      command: ['train', '--lr', '0.1'],
      image: 'x',
      pull: null,
      mounts: [],
      shm_size_mb: null,
      memory_mb: null,
      cpus: null,
      network: null,
      user: null,
      entrypoint: null,
      working_dir: null,
    });
    const { mounts, entrypoint } = plan({ mounts: ['/a//b/:/c/./d:ro', '/e:/e:rw'], entrypoint: [] });
    expect(mounts).to.deep.equal([
      { source: '/a/b', target: '/c/d', read_only: true },
      { source: '/e', target: '/e', read_only: false },
    ]);
    expect(entrypoint).to.deep.equal([]);
  });
});
