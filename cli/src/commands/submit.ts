import { routes, type JobSubmit } from '@svc/contract';
import { Option, type Command } from 'commander';
import { UsageError } from '../failure.js';
import { print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { followJob } from './follow-job.js';
import { parseEnvPair, parseInteger, parsePair } from './parse.js';

export function addSubmitCommand(program: Command): void {
  withJson(program.command('submit'))
    .description('submit a job, which runs a command on a node')
    .usage('[options] -- CMD [ARG...]')
    .argument('<command...>', 'program and its arguments')
    .option('--name <name>', 'name of the job (default: the name of the program)')
    .addOption(new Option('--type <type>', 'type of the job').choices(['TRAIN', 'EVALUATE']))
    .option('--runner <runner>', 'runner that starts the job (default: process)')
    .option('--image <image>', 'container image, for a runner that uses one')
    .option('--gpu <n>', 'number of GPUs (default: 1)', parseInteger)
    .option('--cpu-only', 'run without a GPU')
    .option('--priority <n>', 'priority from -1000 to 1000; higher runs first (default: 0)', parseInteger)
    .option('--project <name>', 'project, by name or id; a project with a new name is created')
    .option('--experiment <name>', 'experiment, by name or id; an experiment with a new name is created')
    .option(
      '--working-dir <dir>',
      'absolute path of a directory on the node (default: a new directory for each attempt)',
    )
    .option(
      '--env <k=v>',
      'environment variable; K alone takes its value from this shell; may be repeated',
      parseEnvPair,
    )
    .option('--max-attempts <n>', 'number of attempts, with automatic retries (default: 1)', parseInteger)
    .option('--node-selector <k=v>', 'label that the node must have; may be repeated', parsePair)
    .option('-f, --follow', 'print the log, and exit with the exit code of the job')
    .addHelpText(
      'after',
      `
Examples:
  svc submit --gpu 2 --name resnet --env LR=0.1 -- python train.py --epochs 90
  svc submit --cpu-only --follow -- ./preprocess.sh`,
    )
    .action(submit);
}

interface SubmitOptions
  extends JsonOptions, Omit<JobSubmit, 'command' | 'working_dir' | 'max_attempts' | 'node_selector'> {
  readonly gpu?: number;
  readonly cpuOnly?: boolean;
  readonly workingDir?: string;
  readonly maxAttempts?: number;
  readonly nodeSelector?: Record<string, string>;
  readonly follow?: boolean;
}

async function submit(command: string[], options: SubmitOptions): Promise<void> {
  if (options.follow && options.json)
    throw new UsageError('--follow cannot be used with --json: it prints the log');
  const client = connect(options);
  const job = await client.call(routes.submitJob, { body: toJobSubmit(command, options) });
  if (options.follow) process.exitCode = await followJob(client, job);
  else print(job, options.json, ({ id }) => [id]);
}

/** What is not given is left out, so that the server's default holds. */
export function toJobSubmit(command: string[], options: SubmitOptions): JobSubmit {
  const { gpu, cpuOnly, workingDir, maxAttempts, nodeSelector } = options;
  const { name, type, runner, image, priority, project, experiment, env } = options;
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
    working_dir: workingDir,
    max_attempts: maxAttempts,
    node_selector: nodeSelector,
    resources: Object.keys(resources).length > 0 ? resources : undefined,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return { command, ...given };
}
