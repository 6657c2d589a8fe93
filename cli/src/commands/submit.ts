import { routes, type JobSubmit } from '@svc/contract';
import { Option, type Command } from 'commander';
import { UsageError } from '../failure.js';
import { print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { followJob } from './follow-job.js';
import { parseEnvPair, parseInteger, parsePair } from './parse.js';

export function addSubmitCommand(program: Command): void {
  withJson(program.command('submit'))
    .description('submit a job')
    .usage('[options] -- CMD [ARG...]')
    .argument('<command...>', 'program and arguments')
    .option('--name <name>', 'label (default: the name of the program)')
    .addOption(new Option('--type <type>', 'kind of job').choices(['TRAIN', 'EVALUATE']))
    .option('--runner <runner>', 'what runs it (default: process)')
    .option('--image <image>', 'container image, for a runner that takes one')
    .option('--gpu <n>', 'GPUs (default 1)', parseInteger)
    .option('--cpu-only', 'needs no GPU')
    .option('--priority <n>', 'higher runs first, -1000 to 1000 (default 0)', parseInteger)
    .option('--project <name>', 'project, by name or id; an unknown name is created')
    .option('--experiment <name>', 'experiment, by name or id; an unknown name is created')
    .option('--working-dir <dir>', "absolute directory on the agent's host (default: one of its own)")
    .option('--env <k=v>', 'environment variable; K alone takes it from here; may be repeated', parseEnvPair)
    .option('--max-attempts <n>', 'automatic retries included (default 1)', parseInteger)
    .option('--node-selector <k=v>', 'label that the node must have; may be repeated', parsePair)
    .option('-f, --follow', "print the log and end with the job's exit code")
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
    throw new UsageError('--follow prints the log, so not together with --json');
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
