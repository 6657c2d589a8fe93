import type { Job, NextAction, RunSummary } from '@svc/contract';
import { isTerminal } from '@svc/contract';
import { changeArgument, type ArgumentChange } from './changed-argument.js';

/**
 * What helps: another command (the same one fails identically), the same one after a repair (of the host, the environment or the code), or
 * the same one as it stands.
 */
export type Remedy = 'change' | 'repair' | 'retry';

export interface Failed {
  readonly job: Job;
  readonly attempt: number;
  readonly hasLog: boolean;
  /** The first of the suggested fixes. */
  readonly fix: string | null;
  /** What a change of one argument can do about it. */
  readonly argument?: ArgumentChange | undefined;
}

export function actionsFor(remedy: Remedy, failed: Failed): NextAction[] {
  const first = REMEDIES[remedy](failed);
  return [
    ...(first === null ? [] : [first]),
    ...(remedy === 'change' ? changed(failed) : []),
    ...(failed.hasLog ? [tailLogs(failed.job, failed.attempt)] : []),
  ];
}

const REMEDIES: Readonly<Record<Remedy, (failed: Failed) => NextAction | null>> = {
  change: ({ job, fix }) => ({
    ...toSameAgain(job),
    reason: `Re-running unchanged fails identically. Submit again, with this command as the base, after this change: ${fix ?? 'see the cause'}${whatIsLeftOut(job)}`,
  }),
  repair: (failed) =>
    retry(failed, `Once this is done, the same command can succeed: ${failed.fix ?? 'see the cause'}`),
  retry: (failed) =>
    retry(failed, 'The cause seems to lie outside of the job, so the same command can succeed.'),
};

/** The fix as far as an argument of the command makes it: unlike the base, this can be submitted as it stands. */
function changed({ job, argument }: Failed): NextAction[] {
  const found = argument && changeArgument(job.command, argument);
  if (!found) return [];
  const reason = `The same with the change made: ${found.what}.${whatIsLeftOut(job)}`;
  return [{ ...toSameAgain({ ...job, command: [...found.command] }), reason }];
}

/** null: the job goes on, or has gone on, and a retry would be refused. */
function retry({ job, attempt }: Failed, reason: string): NextAction | null {
  const canRetry = attempt === job.attempt && (isTerminal(job.status) || job.status === 'LOST');
  return canRetry ? { tool: 'retry_job', args: { job_id: job.id }, reason } : null;
}

export function tailLogs(
  { id }: Job,
  attempt: number,
  reason = 'The end of the log shows what happened before the error.',
): NextAction {
  return { tool: 'tail_logs', args: { job_id: id, attempt, tail: 200 }, reason };
}

/** An evaluation that was submitted as a job would have no checkpoint, and its result would be attached to none. */
function toSameAgain(job: Job): Pick<NextAction, 'tool' | 'args'> {
  const { command, checkpoint_id } = job;
  return checkpoint_id === null
    ? { tool: 'submit_job', args: toSubmitArgs(job) }
    : { tool: 'evaluate_checkpoint', args: { checkpoint_id, command } };
}

/** None without points: there is nothing to diagnose. */
export function diagnoseRun(summary: RunSummary | null): NextAction[] {
  if (summary === null || Object.keys(summary.metrics).length === 0) return [];
  const reason = 'Its metrics show how far it came, and how it went.';
  return [{ tool: 'diagnose_run', args: { run_id: summary.run_id }, reason }];
}

/** What the submitter has to add. */
function whatIsLeftOut({ env, snapshot, checkpoint_id, node_selector }: Job): string {
  if (checkpoint_id !== null)
    return ' The labels (suite, dataset, dataset_version) and the overrides of the evaluation are not among the arguments.';
  const hasEnv = Object.keys(env).length > 0;
  return [
    ...(snapshot === null ? [] : [' If you change the source files, upload them again.']),
    ...(Object.keys(node_selector).length > 0
      ? [' The node selector of the job is not among the arguments.']
      : []),
    ...(hasEnv ? [' The environment variables of the job are not among the arguments.'] : []),
  ].join('');
}

/** The arguments of `submit_job` that submit the same job again. */
function toSubmitArgs(job: Job): Record<string, unknown> {
  const { command, working_dir, resources, project, experiment, snapshot } = job;
  return {
    command,
    ...(working_dir !== null && { working_dir }),
    ...(resources.gpu > 0 ? { gpus: resources.gpu } : { cpu_only: true }),
    ...(project !== null && { project }),
    ...(experiment && { experiment }),
    ...(snapshot !== null && { snapshot }),
    ...toRunnerArgs(job),
  };
}

/** Without them a training that ran in a container would run on the bare host. */
function toRunnerArgs({ runner, image, runner_options }: Job): Record<string, unknown> {
  const { image: _, ...options } = runner_options as Record<string, unknown>;
  return {
    ...(runner !== 'process' && { runner }),
    ...(image !== null && { image }),
    ...(Object.keys(options).length > 0 && { runner_options: options }),
  };
}
