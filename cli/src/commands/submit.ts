import { ApiError, type Client } from '@svc/client';
import { routes, type Job, type JobSubmit } from '@svc/contract';
import { Option, type Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../failure.js';
import { note, print } from '../output/print.js';
import { uploadSnapshot } from '../snapshot/upload.js';
import { toJobName } from '../submit/job-name.js';
import { findPythonEnvironment } from '../submit/python-environment.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { followJob } from './follow-job.js';
import { parseEnvPair, parseInteger, parsePair } from './parse.js';

const DEFAULT_UPLOAD_MB = 200;

export function addSubmitCommand(program: Command): void {
  withJson(program.command('submit'))
    .description('submit a job, which runs a command on a node')
    .usage('[options] CMD [ARG...]')
    .argument('[command...]', 'program and its arguments; options of svc come before them')
    .passThroughOptions()
    .option('--name <name>', 'name of the job (default: the name of the script or program)')
    .addOption(new Option('--type <type>', 'type of the job').choices(['TRAIN', 'EVALUATE']))
    .option('--runner <runner>', 'runner that starts the job (default: process)')
    .option('--image <image>', 'container image, for a runner that uses one')
    .option('--gpu <n>', 'number of GPUs (default: 1, or 0 when no node has a GPU)', parseInteger)
    .option('--cpu-only', 'run without a GPU')
    .option('--priority <n>', 'priority from -1000 to 1000; higher runs first (default: 0)', parseInteger)
    .option('--project <name>', 'project, by name or id; a project with a new name is created')
    .option('--experiment <name>', 'experiment, by name or id; an experiment with a new name is created')
    .option(
      '--working-dir <dir>',
      'directory on the node (default: this directory, when the server runs on this host)',
    )
    .option('--no-working-dir', 'run in a new, empty directory')
    .option(
      '--upload [dir]',
      'upload the source files of a directory (default: this directory) and run in a copy of them, on any node',
    )
    .addOption(
      new Option('--max-upload-mb <n>', 'largest size of the files to upload, in MiB')
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
    .option('-f, --follow', 'print the log, and exit with the exit code of the job')
    .addHelpText(
      'after',
      `
Examples:
  svc submit python3 train.py --epochs 90
  svc submit --gpu 2 --name resnet --env LR=0.1 --follow python3 train.py
  svc submit --upload --cpu-only ./preprocess.sh`,
    )
    .action(submit);
}

interface SubmitOptions
  extends
    JsonOptions,
    Omit<JobSubmit, 'command' | 'working_dir' | 'max_attempts' | 'node_selector' | 'snapshot'> {
  readonly gpu?: number;
  readonly cpuOnly?: boolean;
  /** false: none is wanted. */
  readonly workingDir?: string | false;
  /** true: this directory. */
  readonly upload?: string | true | undefined;
  readonly maxUploadMb: number;
  readonly venv: boolean;
  readonly maxAttempts?: number;
  readonly nodeSelector?: Record<string, string>;
  readonly follow?: boolean;
}

async function submit(words: string[], given: SubmitOptions): Promise<void> {
  const { command, upload } = splitCommand(words, given);
  const options = { ...given, upload };
  if (options.follow && options.json)
    throw new UsageError('--follow cannot be used with --json: it prints the log');
  if (options.upload !== undefined && options.workingDir)
    throw new UsageError(
      '--upload cannot be used with --working-dir: the uploaded files are the working directory',
    );
  const client = connect(options);
  const found = await completeFromHere(client, options);
  const body = { ...toJobSubmit(command, options), ...found };
  const job = await submitOnce(client, body);
  if (options.follow) process.exitCode = await followJob(client, job);
  else print(job, options.json, ({ id }) => [id]);
}

/** An answer that was lost on its way is asked for again: the key keeps it one job. */
async function submitOnce(client: Client, body: JobSubmit): Promise<Job> {
  const input = { body, headers: { 'Idempotency-Key': randomUUID() } };
  return client.call(routes.submitJob, input).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'network') throw error;
    return client.call(routes.submitJob, input);
  });
}

/** `--upload python3 train.py`: what is no directory is the first word of the command. */
export function splitCommand(words: string[], { upload }: Pick<SubmitOptions, 'upload'>) {
  const isWord = typeof upload === 'string' && !statSync(upload, { throwIfNoEntry: false })?.isDirectory();
  const command = isWord ? [upload, ...words] : words;
  if (command.length === 0)
    throw new UsageError('what is to be run? As in svc submit python3 train.py --epochs 90');
  return { command, upload: isWord ? (true as const) : upload };
}

/** What the options leave open, and this shell or the nodes tell. */
async function completeFromHere(client: Client, options: SubmitOptions): Promise<Partial<JobSubmit>> {
  const isHere = isOnThisHost(client.connection.url);
  const mayBeCpuOnly = options.gpu === undefined && !options.cpuOnly;
  const [directory, isCpuOnly] = await Promise.all([
    toDirectory(client, options, isHere),
    mayBeCpuOnly && hasNoGpu(client),
  ]);
  const python = options.venv && isHere ? findPythonEnvironment() : null;
  if (python) note(`with the Python environment ${python.directory} (--no-venv leaves it out)`);
  if (isCpuOnly) note('no node has a GPU: the job is submitted with --cpu-only');
  return {
    ...directory,
    ...(python && { env: { ...python.env, ...options.env } }),
    ...(isCpuOnly && { resources: { cpu_only: true } }),
  };
}

async function toDirectory(
  client: Client,
  { upload, workingDir, maxUploadMb, runner, dataDir }: SubmitOptions,
  isHere: boolean,
): Promise<Pick<JobSubmit, 'working_dir' | 'snapshot'>> {
  if (upload !== undefined) {
    const directory = upload === true ? process.cwd() : upload;
    return { snapshot: await uploadSnapshot(client, { directory, maxMb: maxUploadMb, dataDir, tell: note }) };
  }
  if (workingDir) return { working_dir: path.resolve(workingDir) };
  // In a container this directory is not there.
  const isTaken = workingDir === undefined && isHere && (runner ?? 'process') === 'process';
  return isTaken ? { working_dir: process.cwd() } : {};
}

/** A server that is reached by a loopback address shares the files of this host. */
function isOnThisHost(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** False while there is no node at all: one may still come with GPUs. */
async function hasNoGpu(client: Client): Promise<boolean> {
  const { items } = await client.call(routes.listNodes);
  return items.length > 0 && items.every(({ slots }) => slots.length === 0);
}

/** What is not given is left out, so that the server's default holds. */
export function toJobSubmit(command: string[], options: Partial<SubmitOptions>): JobSubmit {
  const { gpu, cpuOnly, maxAttempts, nodeSelector } = options;
  const { name = toJobName(command), type, runner, image, priority, project, experiment, env } = options;
  const resources = {
    ...(gpu !== undefined && { gpu }),
    ...(cpuOnly && { cpu_only: true }),
  };
  const all = {
    name,
    type,
    runner,
    image,
    priority,
    project,
    experiment,
    env,
    max_attempts: maxAttempts,
    node_selector: nodeSelector,
    resources: Object.keys(resources).length > 0 ? resources : undefined,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return { command, ...given };
}
