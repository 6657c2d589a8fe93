import type { Client } from '@svc/client';
import { routes, type AnswerOf, type Job, type NodeRecord, type Run } from '@svc/contract';
import { countSlots, type Overview } from '../overview.js';

/** Of running and of waiting jobs. */
const MOST_JOBS = 1000;

/** What happens now: what `svc top` shows. */
export interface Activity extends Pick<Overview, 'url' | 'version' | 'gpu_slots' | 'cpu_jobs'> {
  readonly jobs: AnswerOf<typeof routes.getStatus>['body']['jobs'];
  /** By name. */
  readonly nodes: readonly NodeRecord[];
  /** Newest first, with the newest run of each, if it has one that runs. */
  readonly running: readonly { readonly job: Job; readonly run: Run | null }[];
  /** Oldest first. */
  readonly waiting: readonly Job[];
}

export async function readActivity(client: Client): Promise<Activity> {
  const listJobs = async (status: Job['status']): Promise<readonly Job[]> =>
    (await client.call(routes.listJobs, { query: { status, limit: MOST_JOBS } })).items;
  const [{ version }, { jobs }, nodes, dispatching, running, queued, runs] = await Promise.all([
    client.call(routes.getHealth),
    client.call(routes.getStatus),
    readNodes(client),
    listJobs('DISPATCHING'),
    listJobs('RUNNING'),
    listJobs('QUEUED'),
    client.call(routes.listRuns, { query: { status: 'RUNNING', limit: MOST_JOBS } }),
  ]);
  const runOf = (job: Job): Run | null => runs.items.find(({ job_id }) => job_id === job.id) ?? null;
  return {
    url: client.connection.url,
    version,
    ...countSlots(nodes),
    jobs,
    nodes,
    running: [...dispatching, ...running].map((job) => ({ job, run: runOf(job) })),
    waiting: queued.toReversed(),
  };
}

async function readNodes(client: Client): Promise<NodeRecord[]> {
  const { items } = await client.call(routes.listNodes, { query: { limit: 1000 } });
  return items.toSorted((a, b) => a.name.localeCompare(b.name));
}
