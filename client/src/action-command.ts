import type { NextActionRecord } from '@svc/contract';
import { toSubmitOptions } from './submit-command.js';

const COMMANDS: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => string[]>> = {
  submit_job: ({ gpus, command, ...job }) => [
    'svc',
    'submit',
    ...toSubmitOptions({
      ...job,
      resources: gpus === undefined ? { cpu_only: true } : { gpu: Number(gpus) },
    }),
    '--',
    ...(command as string[]),
  ],
  retry_job: ({ job_id }) => ['svc', 'retry', String(job_id)],
  tail_logs: ({ job_id, attempt }) => [
    'svc',
    'logs',
    String(job_id),
    ...(attempt === undefined ? [] : ['--attempt', String(attempt)]),
  ],
  get_job: ({ job_id }) => ['svc', 'job', String(job_id)],
  explain_failure: ({ job_id, run_id, attempt }) => [
    'svc',
    'explain',
    String(job_id ?? run_id),
    ...(attempt === undefined ? [] : ['--attempt', String(attempt)]),
  ],
  list_events: ({ run_id, job_id, node_id }) => [
    'svc',
    'events',
    ...(run_id === undefined ? [] : ['--run', String(run_id)]),
    ...(job_id === undefined ? [] : ['--job', String(job_id)]),
    ...(node_id === undefined ? [] : ['--node', String(node_id)]),
  ],
  diagnose_run: ({ run_id }) => ['svc', 'diagnose', String(run_id)],
  query_metrics: ({ run_id }) => ['svc', 'run', String(run_id)],
  get_run_summary: ({ run_id }) => ['svc', 'run', String(run_id)],
  list_nodes: () => ['svc', 'nodes'],
  cancel_job: ({ job_id }) => ['svc', 'cancel', String(job_id)],
  evaluate_checkpoint: ({ checkpoint_id, command, ...labels }) => [
    'svc',
    'evaluate',
    ...toLabels(labels),
    String(checkpoint_id),
    ...(command as string[]),
  ],
  list_evaluations: ({ checkpoint_id, run_id }) => [
    'svc',
    'evaluations',
    ...(run_id === undefined ? [] : ['--run', String(run_id)]),
    ...(checkpoint_id === undefined ? [] : [String(checkpoint_id)]),
  ],
  list_checkpoints: ({ run_id }) => ['svc', 'run', String(run_id)],
  compare_runs: ({ ids, ...labels }) => ['svc', 'compare', ...toLabels(labels), ...(ids as string[])],
  compare_checkpoints: ({ ids, ...labels }) => ['svc', 'compare', ...toLabels(labels), ...(ids as string[])],
  get_best_checkpoint: ({ run_id, experiment_id, ...labels }) => [
    'svc',
    'best',
    ...toLabels(labels),
    ...(run_id === undefined ? ['--experiment', String(experiment_id)] : ['--run', String(run_id)]),
  ],
};

/** `--metric`, `--suite`, `--dataset` and `--dataset-version`, as far as they are given. */
function toLabels(labels: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(labels).flatMap(([name, label]) => [`--${name.replaceAll('_', '-')}`, String(label)]);
}

/** The words that a person would type for an action; null: there is no command for it. */
export function toActionCommand({ tool, args }: NextActionRecord): string[] | null {
  return COMMANDS[tool]?.(args) ?? null;
}
