import { strict, text } from '@svc/contract';
import { Type } from 'typebox';
import { PULL_POLICIES, type PullPolicy } from './pull-policy.js';

export { PULL_POLICIES, type PullPolicy };

/** 1 TiB. */
const MAX_SHM_MB = 1_048_576;
/** 32 TiB. */
const MAX_MEMORY_MB = 33_554_432;
/** The engine refuses less. */
const MIN_MEMORY_MB = 6;

const Path = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

/** `runner_options` of a job on the Docker runner. The variables of the container are those of the job's `env`. */
export const DockerOptions = strict({
  image: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'The image, such as pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime.',
  }),
  pull: Type.Optional(
    Type.Enum([...PULL_POLICIES], {
      description: 'When the image is pulled; left out: as the agent is configured, which is missing.',
    }),
  ),
  mounts: Type.Optional(
    Type.Array(Path('SOURCE:TARGET or SOURCE:TARGET:ro, such as /data/imagenet:/data:ro.'), {
      maxItems: 64,
      description: 'Directories and files of the host; the configuration of the agent says which it allows.',
    }),
  ),
  shm_size_mb: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SHM_MB,
      description:
        'Size of /dev/shm in MiB; left out: 8192, or half of the memory of the host if that is less.',
    }),
  ),
  memory_mb: Type.Optional(
    Type.Integer({
      minimum: MIN_MEMORY_MB,
      maximum: MAX_MEMORY_MB,
      description: 'Memory in MiB, without swap; a job that needs more ends as OOM. Left out: no limit.',
    }),
  ),
  cpus: Type.Optional(
    Type.Number({
      minimum: 0.01,
      maximum: 4096,
      description: 'Processor cores, such as 1.5; left out: no limit.',
    }),
  ),
  network: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'bridge (the default), host, none, or the name of a network of the engine.',
    }),
  ),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'USER or USER:GROUP, as names of the image or as numbers.',
    }),
  ),
  entrypoint: Type.Optional(
    Type.Array(text(131_072), {
      maxItems: 100,
      description: 'In place of the entrypoint of the image; []: none. The command of the job follows it.',
    }),
  ),
  working_dir: Type.Optional(
    Path(
      'Directory of the container in which the command starts; left out: the working directory of the job.',
    ),
  ),
});

/** A directory or file of the host and its place in the container; both are absolute. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
}

/** What the agent half carries out. null: the job leaves it to the agent or to the image. */
export interface DockerPlan {
  /** Program and arguments, behind the entrypoint; no shell reads them. */
  readonly command: readonly string[];
  readonly image: string;
  readonly pull: PullPolicy | null;
  readonly mounts: readonly Mount[];
  readonly shm_size_mb: number | null;
  readonly memory_mb: number | null;
  readonly cpus: number | null;
  readonly network: string | null;
  readonly user: string | null;
  /** Empty: no entrypoint, also where the image has one. */
  readonly entrypoint: readonly string[] | null;
  readonly working_dir: string | null;
}
