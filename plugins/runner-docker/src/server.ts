import type { Issue, JobDraft, RunnerServer } from '@svc/contract';
import path from 'node:path';
import type { Static } from 'typebox';
import { DockerOptions, type DockerPlan, type Mount } from './spec.js';

type Options = Static<typeof DockerOptions>;

/** The server half: refuses at submit what no engine would take, and makes the plan. */
export function dockerRunner(): RunnerServer<typeof DockerOptions, DockerPlan> {
  return {
    name: 'docker',
    optionsSchema: DockerOptions,
    placement: 'slots',
    check: (options, draft) => [...checkOptions(options), ...checkMounts(options, draft)],
    plan: (options, job) => ({
      command: job.command,
      image: options.image,
      pull: options.pull ?? null,
      mounts: (options.mounts ?? []).map(toMount),
      shm_size_mb: options.shm_size_mb ?? null,
      memory_mb: options.memory_mb ?? null,
      cpus: options.cpus ?? null,
      network: options.network ?? null,
      user: options.user ?? null,
      entrypoint: options.entrypoint ?? null,
      working_dir: options.working_dir ?? null,
    }),
  };
}

/** `[registry[:port]/]name[/name...][:tag][@sha256:digest]`, as the distribution project defines it. */
const IMAGE =
  /^(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/;
const USER = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]*(?::[a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$/;
const NETWORK = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

function* checkOptions({ image, network, user, entrypoint, working_dir }: Options): Generator<Issue> {
  if (!IMAGE.test(image)) yield toIssue('image', toImageFlaw(image));
  if (network !== undefined && !NETWORK.test(network))
    yield toIssue(
      'network',
      'must be bridge, host, none or the name of a network of the engine; the network of another container cannot be used',
    );
  if (user !== undefined && !USER.test(user))
    yield toIssue('user', 'must be USER or USER:GROUP, such as 1000:1000');
  if (entrypoint?.[0]?.trim() === '')
    yield toIssue('entrypoint[0]', 'must name a program; write [] for no entrypoint');
  const flaw = working_dir === undefined ? null : findPathFlaw(working_dir);
  if (flaw !== null) yield toIssue('working_dir', flaw);
}

function toImageFlaw(image: string): string {
  if (image !== image.toLowerCase() && IMAGE.test(image.toLowerCase()))
    return `must have a name in lower case: ${image.toLowerCase()}`;
  if (/^[a-z]+:\/\//.test(image)) return 'must not begin with a scheme: leave out everything up to //';
  return 'must name an image, such as python:3.12 or registry.example.org/team/train:v1';
}

function* checkMounts({ mounts = [] }: Options, draft: JobDraft): Generator<Issue> {
  const taken = new Map<string, string>();
  if (draft.working_dir !== null) {
    const flaw = findPathFlaw(draft.working_dir) ?? findTargetFlaw(draft.working_dir);
    if (flaw !== null) yield { path: 'working_dir', message: flaw };
    taken.set(toPlain(draft.working_dir), 'the working directory of the job, which is mounted by itself');
  }
  for (const [index, text] of mounts.entries()) {
    const field = `mounts[${index}]`;
    const flaw = findMountFlaw(text);
    if (flaw !== null) {
      yield toIssue(field, flaw);
      continue;
    }
    const { target } = toMount(text);
    const other = taken.get(target);
    if (other !== undefined) yield toIssue(field, `has the target ${target}, as ${other} has: leave one out`);
    taken.set(target, field);
  }
}

function findMountFlaw(text: string): string | null {
  const [source = '', target = '', mode = 'rw', ...rest] = text.split(':');
  if (target === '' || rest.length > 0 || !['ro', 'rw'].includes(mode))
    return 'must be SOURCE:TARGET or SOURCE:TARGET:ro, such as /data/imagenet:/data:ro; a path with a colon cannot be mounted';
  const sourceFlaw = findPathFlaw(source);
  if (sourceFlaw !== null) return `the source ${sourceFlaw}`;
  if (toPlain(source) === '/') return 'the source must be below /: the whole host cannot be mounted';
  const targetFlaw = findPathFlaw(target) ?? findTargetFlaw(target);
  return targetFlaw === null ? null : `the target ${targetFlaw}`;
}

/** What holds for each path that a job names. */
function findPathFlaw(value: string): string | null {
  if (!value.startsWith('/')) return 'must be absolute, such as /data/project';
  if (value.split('/').includes('..')) return 'must not contain ..: write the path that is meant';
  return /[\u0000-\u001f\u007f]/.test(value) ? 'must not contain a control character' : null;
}

function findTargetFlaw(target: string): string | null {
  const plain = toPlain(target);
  if (plain === '/') return 'must be below /: / holds the files of the image';
  const reserved = ['/proc', '/sys'].find((dir) => plain === dir || plain.startsWith(`${dir}/`));
  if (reserved !== undefined || plain === '/dev')
    return `must not be ${plain}: the engine provides ${reserved ?? plain}`;
  return null;
}

function toMount(text: string): Mount {
  const [source = '', target = '', mode] = text.split(':');
  return { source: toPlain(source), target: toPlain(target), read_only: mode === 'ro' };
}

/** Without `//`, `/./` and a slash at the end. */
function toPlain(value: string): string {
  return path.posix.normalize(value).replace(/(?<=.)\/$/, '');
}

function toIssue(option: string, message: string): Issue {
  return { path: `runner_options.${option}`, message };
}
