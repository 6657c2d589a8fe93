import type { ToolName } from '@svc/contract';
import { cancelJob, evaluateCheckpoint, retryJob, submitJob } from './control.js';
import { diagnoseRun } from './diagnose.js';
import { getJob, listJobs } from './jobs.js';
import { tailLogs } from './logs.js';
import { getRunSummary, listMetricDefinitions, queryMetrics } from './metrics.js';
import { getNodeStatus, listNodes } from './nodes.js';
import { listCheckpoints, listEvaluations, listEvents } from './records.js';
import { compareCheckpoints, compareRuns, explainFailure, getBestCheckpoint } from './semantic.js';
import type { Tool } from './tool.js';

/** The tools in the order of the specification. */
export const TOOLS: Readonly<Record<ToolName, Tool>> = {
  list_nodes: listNodes,
  get_node_status: getNodeStatus,
  list_jobs: listJobs,
  get_job: getJob,
  get_run_summary: getRunSummary,
  query_metrics: queryMetrics,
  tail_logs: tailLogs,
  list_events: listEvents,
  list_checkpoints: listCheckpoints,
  list_evaluations: listEvaluations,
  list_metric_definitions: listMetricDefinitions,
  submit_job: submitJob,
  evaluate_checkpoint: evaluateCheckpoint,
  cancel_job: cancelJob,
  retry_job: retryJob,
  diagnose_run: diagnoseRun,
  compare_runs: compareRuns,
  compare_checkpoints: compareCheckpoints,
  get_best_checkpoint: getBestCheckpoint,
  explain_failure: explainFailure,
};
