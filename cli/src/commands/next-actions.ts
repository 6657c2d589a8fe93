import type { CitationRecord, NextActionRecord } from '@svc/contract';
import { toCommandLine, toNumber } from '../output/format.js';

/** What a person would type for an action. Some have no command. */
const COMMANDS: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => string[]>> = {
  submit_job: ({
    command,
    working_dir,
    snapshot,
    gpus,
    project,
    experiment,
    runner,
    image,
    runner_options,
  }) => [
    'svc',
    'submit',
    ...(snapshot === undefined ? [] : ['--upload']),
    ...(gpus === undefined ? ['--cpu-only'] : ['--gpu', String(gpus)]),
    ...(working_dir === undefined ? [] : ['--working-dir', String(working_dir)]),
    ...(working_dir === undefined && snapshot === undefined ? ['--no-working-dir'] : []),
    ...(project === undefined ? [] : ['--project', String(project)]),
    ...(experiment === undefined ? [] : ['--experiment', String(experiment)]),
    ...(runner === undefined ? [] : ['--runner', String(runner)]),
    ...(image === undefined ? [] : ['--image', String(image)]),
    ...toRunnerOptions(runner_options),
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

/** As `svc submit` reads them: JSON, which says that "64" is a text. */
function toRunnerOptions(options: unknown = {}): string[] {
  return Object.entries(options as object).flatMap(([name, value]) => [
    '--runner-option',
    `${name}=${JSON.stringify(value)}`,
  ]);
}

/** `--metric`, `--suite`, `--dataset` and `--dataset-version`, as far as they are given. */
function toLabels(labels: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(labels).flatMap(([name, label]) => [`--${name.replaceAll('_', '-')}`, String(label)]);
}

/** Each action that has a command, with its reason. */
export function toActionLines(actions: readonly NextActionRecord[]): string[] {
  return actions.flatMap(({ tool, args, reason }) => {
    const command = COMMANDS[tool]?.(args as Readonly<Record<string, unknown>>);
    return command === undefined ? [] : [toCommandLine(command), `  ${reason}`];
  });
}

export function toCitation(citation: CitationRecord): string {
  if ('metric' in citation)
    return `${citation.metric} = ${toNumber(citation.value)} at step ${citation.step}`;
  if ('event_id' in citation) return `event ${citation.event_id}`;
  if ('field' in citation) return `${citation.field}: ${citation.value}`;
  return toLogLine(citation);
}

/** A person counts lines from 1. */
export function toLogLine({ seq, text }: { readonly seq: number; readonly text: string }): string {
  return `log line ${seq + 1}: ${text}`;
}
