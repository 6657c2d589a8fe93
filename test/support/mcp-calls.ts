import { newId, type ErrorCode, type ToolName } from '@svc/contract';

/** What a lab has, for the calls below. */
export interface McpSubjects {
  readonly node: string;
  readonly job: string;
  readonly failedJob: string;
  readonly waitingJob: string;
  readonly run: string;
  readonly otherRun: string;
  readonly checkpoints: readonly [string, string];
}

export interface McpCall {
  readonly args: object;
  readonly wrong: object;
  /** Of the error that the wrong arguments lead to. */
  readonly code: ErrorCode;
}

/** A call of each of the 20 tools that succeeds, and one that does not. In this order: the Control tools change the lab. */
export function mcpCalls(lab: McpSubjects): Record<ToolName, McpCall> {
  const { node, job, failedJob, waitingJob, run, otherRun, checkpoints } = lab;
  const command = ['true'];
  const notFound = (args: object, wrong: object): McpCall => ({ args, wrong, code: 'not_found' });
  const invalid = (args: object, wrong: object): McpCall => ({ args, wrong, code: 'validation_error' });
  return {
    list_nodes: invalid({}, { limit: 0 }),
    get_node_status: notFound({ node_id: node }, { node_id: newId('node') }),
    list_jobs: invalid({ status: 'SUCCEEDED' }, { status: 'DONE' }),
    get_job: notFound({ job_id: job }, { job_id: newId('job') }),
    get_run_summary: notFound({ run_id: run }, { run_id: newId('run') }),
    query_metrics: notFound({ run_id: run, names: ['train/loss'] }, { run_id: newId('run') }),
    tail_logs: notFound({ job_id: job }, { job_id: newId('job') }),
    list_events: notFound({ run_id: run }, { run_id: newId('run') }),
    list_checkpoints: notFound({ run_id: run }, { run_id: newId('run') }),
    list_evaluations: notFound({ run_id: run }, { checkpoint_id: newId('checkpoint') }),
    list_metric_definitions: notFound({}, { project_id: newId('project') }),
    submit_job: invalid({ command, cpu_only: true }, { command: [] }),
    evaluate_checkpoint: notFound(
      { checkpoint_id: checkpoints[0], command },
      { checkpoint_id: newId('checkpoint'), command },
    ),
    cancel_job: invalid({ job_id: waitingJob, confirm: true }, { job_id: waitingJob, confirm: false }),
    retry_job: notFound({ job_id: failedJob }, { job_id: newId('job') }),
    diagnose_run: notFound({ run_id: run }, { run_id: newId('run') }),
    compare_runs: notFound({ ids: [run, otherRun] }, { ids: [newId('run'), newId('run')] }),
    compare_checkpoints: notFound({ ids: checkpoints }, { ids: [checkpoints[0], newId('checkpoint')] }),
    get_best_checkpoint: invalid({ run_id: run }, {}),
    explain_failure: invalid({ job_id: failedJob }, { job_id: failedJob, run_id: run }),
  };
}
