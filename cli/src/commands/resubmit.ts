import { toCommandLine, type Client } from '@svc/client';
import { routes, type Job, type JobSubmit } from '@svc/contract';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { note, print } from '../output/print.js';
import { toPlainText } from '../output/table.js';
import { checkFollow, createOnce } from '../submit/submission.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findJob, NEEDED_JOB } from './find-record.js';
import { followJob } from './follow-job.js';
import { parseInteger } from './parse.js';

export function addResubmitCommand(program: Command): void {
  withJson(program.command('resubmit'))
    .description('submit a new job that is like another one, whatever state that is in')
    .argument('<job>', NEEDED_JOB)
    .option('--name <name>', 'name of the new job (default: the same)')
    .option('--gpu <n>', 'number of GPUs (default: the same)', parseInteger)
    .option('--priority <n>', 'priority from -1000 to 1000 (default: the same)', parseInteger)
    .option('--max-attempts <n>', 'number of attempts (default: the same)', parseInteger)
    .option('-f, --follow', 'print the log, and exit with the exit code of the new job')
    .addHelpText(
      'after',
      `
The new job has the same command, environment variables, working directory or uploaded files, resources, runner, project and experiment, and a run of its own. \`svc retry\` starts a further attempt of the same job instead.

Examples:
  svc resubmit X8R2QF
  svc resubmit --gpu 2 --name resnet-2 --follow train.py`,
    )
    .action(resubmit);
}

interface ResubmitOptions extends JsonOptions {
  readonly name?: string;
  readonly gpu?: number;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly follow?: boolean;
}

async function resubmit(reference: string, options: ResubmitOptions): Promise<void> {
  checkFollow(options);
  const client = connect(options);
  const params = { job_id: await findJob(client, reference) };
  const job = await client.call(routes.getJob, { params });
  refuseEvaluation(job);
  const body = { ...toSameJob(job, options), ...(await readPlacement(client, job)) };
  const fresh = await createOnce((headers) => client.call(routes.submitJob, { body, headers }));
  note(`like ${job.id} (${toPlainText(job.name)})`);
  if (options.follow) process.exitCode = await followJob(client, fresh);
  else print(fresh, options.json, ({ id }) => [id]);
}

/** A job of the same command would belong to no evaluation, and its result would go nowhere. */
function refuseEvaluation({ id, checkpoint_id, evaluation_id, command }: Job): void {
  if (checkpoint_id === null || evaluation_id === null) return;
  const again = toCommandLine(['svc', 'evaluate', checkpoint_id, ...command]);
  throw new Failure(`${id} is the job of ${evaluation_id}; to evaluate the checkpoint again: ${again}`);
}

/** `image` is one of the options of the runner. */
function toSameJob(job: Job, { name, gpu, priority, maxAttempts }: ResubmitOptions): JobSubmit {
  const { type, command, runner, runner_options, env, node_selector, working_dir, snapshot } = job;
  return {
    type,
    command,
    runner,
    runner_options,
    env,
    node_selector,
    ...(working_dir !== null && { working_dir }),
    ...(snapshot !== null && { snapshot }),
    name: name ?? job.name,
    resources: { gpu: gpu ?? job.resources.gpu },
    priority: priority ?? job.priority,
    max_attempts: maxAttempts ?? job.max_attempts,
  };
}

/** The names that its project and experiment have now: the job may have been submitted under others. */
async function readPlacement(
  client: Client,
  { project_id, experiment_id }: Job,
): Promise<Pick<JobSubmit, 'project' | 'experiment'>> {
  const [project, experiment] = await Promise.all([
    project_id === null ? null : client.call(routes.getProject, { params: { project_id } }),
    experiment_id === null ? null : client.call(routes.getExperiment, { params: { experiment_id } }),
  ]);
  return { ...(project && { project: project.name }), ...(experiment && { experiment: experiment.name }) };
}
