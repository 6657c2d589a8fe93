import { toMetricValue, fromMetricValue, type Evaluation, type EventDraft, type Job } from '@svc/contract';

const METRICS_SHOWN = 5;

/** EVALUATION_FINISHED, with what people read of a result. */
export function finishedEvent(evaluation: Evaluation, job: Job | null): EventDraft {
  const { id, checkpoint_id, run_id, job_id, status, error, suite, dataset, dataset_version } = evaluation;
  return {
    type: 'EVALUATION_FINISHED',
    severity: status === 'SUCCEEDED' ? 'info' : 'warning',
    title: `Evaluation ${job?.name ?? id} ${status.toLowerCase()}`,
    message: status === 'SUCCEEDED' ? toText(evaluation) : (error ?? ''),
    run_id,
    job_id: job && job_id,
    node_id: job?.node_id ?? null,
    data: { evaluation_id: id, checkpoint_id, status, suite, dataset, dataset_version },
  };
}

/** `acc 0.91, loss 0.3 and 2 more`. */
function toText({ metrics }: Evaluation): string {
  const all = Object.entries(metrics);
  const shown = all
    .slice(0, METRICS_SHOWN)
    .map(([name, value]) => `${name} ${toMetricValue(Number(fromMetricValue(value).toPrecision(5)))}`);
  const more = all.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
