import type { Client } from '@svc/client';
import { routes, type AnswerOf, type Job, type NodeRecord, type NodeStatus } from '@svc/contract';

type Health = AnswerOf<typeof routes.getHealth>['body'];
type Status = AnswerOf<typeof routes.getStatus>['body'];
type JobPage = AnswerOf<typeof routes.listJobs>['body'];
type RunPage = AnswerOf<typeof routes.listRuns>['body'];

const PAGE = 1000;
const MOST_PAGES = 5;

/** How many of something are in use. */
export interface Usage {
  readonly used: number;
  readonly free: number;
  /** GPUs that take no job: neither used nor free. */
  readonly unavailable?: number;
}

/** How the server does, in one look. */
export interface Overview {
  readonly url: string;
  readonly version: string;
  readonly uptime_s: number;
  readonly nodes: Readonly<Record<NodeStatus, number>>;
  /** Of the nodes that are ONLINE. */
  readonly gpu_slots: Usage;
  readonly cpu_jobs: Usage;
  readonly jobs: Status['jobs'];
  readonly oldest_queued: Job | null;
  /** `is_partial`: the numbers are those of the newest runs alone. */
  readonly runs: {
    readonly running: number;
    readonly stale: number;
    readonly lost: number;
    readonly is_partial: boolean;
  };
}

export async function readOverview(client: Client): Promise<Overview> {
  const [health, status, { items: nodes }, running, lost] = await Promise.all([
    client.call(routes.getHealth),
    client.call(routes.getStatus),
    client.call(routes.listNodes, { query: { limit: PAGE } }),
    client.call(routes.listRuns, { query: { status: 'RUNNING', limit: PAGE } }),
    client.call(routes.listRuns, { query: { status: 'LOST', limit: PAGE } }),
  ]);
  return {
    ...toServer(client, health),
    nodes: countNodes(nodes),
    ...countSlots(nodes),
    jobs: status.jobs,
    oldest_queued: status.jobs.QUEUED > 0 ? ((await readQueue(client)).at(-1) ?? null) : null,
    runs: {
      running: running.items.length,
      stale: running.items.filter(({ stale_since }) => stale_since !== null).length,
      lost: lost.items.length,
      is_partial: [running, lost].some(isCut),
    },
  };
}

/** Queued jobs, newest first. */
export async function readQueue(client: Client): Promise<Job[]> {
  const jobs: Job[] = [];
  let before: number | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { status: 'QUEUED', limit: PAGE, before } as const;
    const list: JobPage = await client.call(routes.listJobs, { query });
    jobs.push(...list.items);
    before = list.next_before;
    if (before === null) break;
  }
  return jobs;
}

export function countSlots(nodes: readonly NodeRecord[]): Pick<Overview, 'gpu_slots' | 'cpu_jobs'> {
  const online = nodes.filter(({ status }) => status === 'ONLINE');
  const slots = online.flatMap((node) => node.slots);
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
  const cpuJobs = sum(online.map(({ cpu_jobs }) => cpu_jobs));
  return {
    gpu_slots: {
      used: slots.filter(({ busy }) => busy).length,
      free: slots.filter(({ busy, health }) => !busy && health.state === 'ok').length,
      unavailable: slots.filter(({ busy, health }) => !busy && health.state !== 'ok').length,
    },
    cpu_jobs: toUsage(cpuJobs, sum(online.map(({ max_cpu_jobs }) => max_cpu_jobs))),
  };
}

function toUsage(used: number, total: number): Usage {
  return { used, free: Math.max(0, total - used) };
}

function toServer(
  client: Client,
  { version, uptime_s }: Health,
): Pick<Overview, 'url' | 'version' | 'uptime_s'> {
  return { url: client.connection.url, version, uptime_s };
}

export function countNodes(nodes: readonly NodeRecord[]): Overview['nodes'] {
  const counts = { ONLINE: 0, OFFLINE: 0, DRAINING: 0 };
  for (const { status } of nodes) counts[status] += 1;
  return counts;
}

function isCut({ items, truncated }: RunPage): boolean {
  return truncated === true || items.length === PAGE;
}
