import { routes, type Checkpoint, type Evaluation, type Job, type NextActionRecord } from '@svc/contract';
import { toAction, type Call } from './tool.js';

/** Among so many jobs of the project the newest evaluation is looked for. */
const LOOKED_AT = 100;

/** Evaluates the checkpoint with the command and labels of the newest evaluation of its run, else of its project; nothing when there was none. */
export async function evaluateLikeBefore(
  call: Call,
  checkpoint: Pick<Checkpoint, 'id' | 'run_id'>,
): Promise<NextActionRecord[]> {
  const evaluation = await newestEvaluation(call, checkpoint.run_id);
  if (evaluation === null) return [];
  const { client, signal } = call;
  const { command } = await client.call(routes.getJob, { params: { job_id: evaluation.job_id }, signal });
  const { suite, dataset, dataset_version } = evaluation;
  const labels = Object.entries({ suite, dataset, dataset_version }).filter(([, label]) => label !== null);
  const args = { checkpoint_id: checkpoint.id, command, ...Object.fromEntries(labels) };
  return [
    toAction(
      'evaluate_checkpoint',
      args,
      'it has no evaluation: this is the command of the newest evaluation before',
    ),
  ];
}

async function newestEvaluation({ client, signal }: Call, run_id: string): Promise<Evaluation | null> {
  const { items: ofRun } = await client.call(routes.listEvaluations, { query: { run_id, limit: 1 }, signal });
  if (ofRun[0]) return ofRun[0];
  const { project_id } = await client.call(routes.getRun, { params: { run_id }, signal });
  const query = { project_id, limit: LOOKED_AT };
  const { items: jobs } = await client.call(routes.listJobs, { query, signal });
  const eval_id = jobs.find((job: Job) => job.evaluation_id !== null)?.evaluation_id;
  return eval_id ? client.call(routes.getEvaluation, { params: { eval_id }, signal }) : null;
}
