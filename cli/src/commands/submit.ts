import { toJobName } from '@svc/client';
import { JOB_TYPES, routes, type JobSubmit } from '@svc/contract';
import { Option, type Command } from 'commander';
import { statSync } from 'node:fs';
import { UsageError } from '../failure.js';
import { print } from '../output/print.js';
import { isOnPath } from '../program-on-path.js';
import { completeFromHere, type FromHereOptions } from '../submit/from-here.js';
import { checkFollow, createOnce, toGiven, toResources } from '../submit/submission.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { followJob } from './follow-job.js';
import { parseEnvPair, parseInteger, parseJsonPair, parseOneOf, parsePair } from './parse.js';

const DEFAULT_UPLOAD_MB = 200;

export function addSubmitCommand(program: Command): void {
  withJson(program.command('submit'))
    .description('submit a job, which runs a command on a node')
    .usage('[options] CMD [ARG...]')
    .argument('[command...]', 'program and its arguments; options of svc come before them')
    .passThroughOptions()
    .option('--name <name>', 'name of the job (default: the name of the script or program)')
    .option('--type <type>', `type of the job: ${JOB_TYPES.join(', ')}`, parseOneOf(JOB_TYPES))
    .option('--runner <runner>', 'runner that starts the job (default: process)')
    .option('--image <image>', 'container image, for a runner that uses one')
    .option(
      '--runner-option <k=v>',
      'option of the runner; the value is JSON, else text; may be repeated',
      parseJsonPair,
    )
    .option('--gpu <n>', 'number of GPUs (default: 1, or 0 when no node has a GPU)', parseInteger)
    .option('--cpu-only', 'run without a GPU')
    .option('--priority <n>', 'priority from -1000 to 1000; higher runs first (default: 0)', parseInteger)
    .option('--project <name>', 'project, by name or id; a project with a new name is created')
    .option('--experiment <name>', 'experiment, by name or id; an experiment with a new name is created')
    .option(
      '--working-dir <dir>',
      'directory on the node (default: this directory, when the server runs on this host; in a container an empty one)',
    )
    .option('--no-working-dir', 'run in a new, empty directory')
    .option(
      '--upload [dir]',
      'upload the source files of a directory (default: this directory) and run in a copy of them, on any node',
    )
    .addOption(
      new Option(
        '--max-upload-mb <n>',
        'largest size of the files to upload, in MiB; the server has a limit of its own',
      )
        .default(DEFAULT_UPLOAD_MB)
        .argParser(parseInteger),
    )
    .option('--no-venv', 'run without the virtual or conda environment that is active in this shell')
    .option(
      '--env <k=v>',
      'environment variable; K alone takes its value from this shell; may be repeated',
      parseEnvPair,
    )
    .option(
      '--max-attempts <n>',
      'number of attempts, with automatic retries (default: 1); retried are LOST, a signal and EVALUATION_RESULT_INVALID, never EXIT_CODE, OOM, DISPATCH_FAILED or a cancelled job',
      parseInteger,
    )
    .option('--node-selector <k=v>', 'label that the node must have; may be repeated', parsePair)
    .option(
      '-f, --follow',
      'print the log, and exit with the exit code of the job, or with 128 + N when signal N ended it',
    )
    .addHelpText(
      'after',
      `
Examples:
  svc submit python3 train.py --epochs 90
  svc submit --gpu 2 --name resnet --env LR=0.1 --follow python3 train.py
  svc submit --upload --cpu-only ./preprocess.sh
  svc submit --upload --runner docker --image train:1 --runner-option 'mounts=["/data:/data:ro"]' python3 train.py`,
    )
    .action(submit);
}

interface SubmitOptions
  extends
    JsonOptions,
    FromHereOptions,
    Omit<
      JobSubmit,
      'command' | 'working_dir' | 'max_attempts' | 'node_selector' | 'snapshot' | 'env' | 'runner'
    > {
  readonly runner?: string;
  readonly runnerOption?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly dataDir?: string;
  readonly nodeSelector?: Record<string, string>;
  readonly maxAttempts?: number;
  readonly follow?: boolean;
}

async function submit(words: string[], given: SubmitOptions): Promise<void> {
  const { command, upload } = splitCommand(words, given);
  const options = { ...given, command, upload };
  checkFollow(options);
  if (options.upload !== undefined && options.workingDir)
    throw new UsageError(
      '--upload cannot be used with --working-dir: the uploaded files are the working directory',
    );
  if (options.workingDir === '')
    throw new UsageError(
      '--working-dir is empty: name a directory, or use --no-working-dir for a new, empty one',
    );
  const client = connect(options);
  const found = await completeFromHere(client, options);
  const body = { ...toJobSubmit(command, options), ...found };
  const job = await createOnce((headers) => client.call(routes.submitJob, { body, headers }));
  if (options.follow) process.exitCode = await followJob(client, job);
  else print(job, options.json, ({ id }) => [id]);
}

/** `--upload python3 train.py`: a program on the PATH that is no directory is the first word of the command. */
export function splitCommand(words: string[], { upload }: Pick<SubmitOptions, 'upload'>) {
  const isWord = typeof upload === 'string' && !statSync(upload, { throwIfNoEntry: false })?.isDirectory();
  if (isWord && (upload.includes('/') || !isOnPath(upload)))
    throw new UsageError(
      `--upload ${upload}: there is no such directory${upload.includes('/') ? '' : ', and no such program on the PATH'}; to upload this directory and run ${upload}, write --upload . ${upload}`,
    );
  const command = isWord ? [upload, ...words] : words;
  if (command.length === 0)
    throw new UsageError('what is to be run? As in svc submit python3 train.py --epochs 90');
  return { command, upload: isWord ? (true as const) : upload };
}

/** What is not given is left out, so that the server's default holds. */
export function toJobSubmit(command: string[], options: Partial<SubmitOptions>): JobSubmit {
  const { maxAttempts, nodeSelector, runnerOption } = options;
  const { name = toJobName(command), type, runner, image, priority, project, experiment, env } = options;
  const given = toGiven({
    name,
    type,
    runner,
    image,
    runner_options: runnerOption,
    priority,
    project,
    experiment,
    env,
    max_attempts: maxAttempts,
    node_selector: nodeSelector,
    resources: toResources(options),
  });
  return { command, ...given };
}
