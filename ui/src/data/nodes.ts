import type { AnswerOf, Job, NodeRecord, NodeSeries, NodeSnapshot, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { NodeRecord, NodeSeries, NodeSnapshot };
export type NodeSeriesByName = AnswerOf<typeof routes.readNodeMetrics>['body']['series'];
export type Slot = NodeRecord['slots'][number];

const LIST = endpoint<typeof routes.listNodes>('GET', '/nodes');
const GET = endpoint<typeof routes.getNode>('GET', '/nodes/{node_id}');
const SNAPSHOT = endpoint<typeof routes.getNodeSnapshot>('GET', '/nodes/{node_id}/snapshot');
const METRICS = endpoint<typeof routes.readNodeMetrics>('GET', '/nodes/{node_id}/metrics');
const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const DRAIN = endpoint<typeof routes.drainNode>('POST', '/nodes/{node_id}/drain');
const UNDRAIN = endpoint<typeof routes.undrainNode>('POST', '/nodes/{node_id}/undrain');
/** Of what a node has measured, so much can be asked for at once, in ms. */
const MOST_MS = 31 * 86_400_000;

/** What a node measured in that time, in ms since the Unix epoch; thinned to `limit` samples of each metric. */
export async function readNodeSeries(
  api: Api,
  nodeId: string,
  { names, from, to, limit }: { names: readonly string[]; from: number; to: number; limit: number },
  signal?: AbortSignal,
): Promise<Record<string, NodeSeries>> {
  const window_s = Math.min(MOST_MS, Math.max(1, to - from)) / 1000;
  const query = { names: names.join(','), window_s, until: Math.ceil(to), limit };
  return (await api.call(METRICS, { params: { node_id: nodeId }, query, signal })).series;
}

export async function listNodes(api: Api, signal?: AbortSignal): Promise<NodeRecord[]> {
  return (await api.call(LIST, { query: { limit: 1000 }, signal })).items;
}

/** As people count: `node-2` before `node-10`. */
export function sortByName<T extends { readonly name: string; readonly id: string }>(
  nodes: readonly T[],
): T[] {
  return [...nodes].sort(
    (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || (a.id < b.id ? -1 : 1),
  );
}

export function drainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(DRAIN, { params: { node_id: nodeId } });
}

export function undrainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(UNDRAIN, { params: { node_id: nodeId } });
}

export function getNode(api: Api, nodeId: string, signal?: AbortSignal): Promise<NodeRecord> {
  return api.call(GET, { params: { node_id: nodeId }, signal });
}

export function getNodeSnapshot(api: Api, nodeId: string, signal?: AbortSignal): Promise<NodeSnapshot> {
  return api.call(SNAPSHOT, { params: { node_id: nodeId }, signal });
}

/** All metrics of the last seconds, each thinned to `limit` points. */
export async function readLastNodeSeries(
  api: Api,
  nodeId: string,
  windowS: number,
  limit: number,
  signal?: AbortSignal,
): Promise<NodeSeriesByName> {
  const query = { window_s: windowS, limit };
  return (await api.call(METRICS, { params: { node_id: nodeId }, query, signal })).series;
}

/** Those that run there, then the newest of those whose last attempt was placed there. */
export async function listJobsOfNode(api: Api, nodeId: string, signal?: AbortSignal): Promise<Job[]> {
  const read = async (query: { status?: 'RUNNING'; limit: number }) =>
    (await api.call(JOBS, { query: { ...query, node_id: nodeId }, signal })).items;
  const [running, newest] = await Promise.all([read({ status: 'RUNNING', limit: 200 }), read({ limit: 20 })]);
  const ids = new Set(running.map(({ id }) => id));
  return [...running, ...newest.filter(({ id }) => !ids.has(id))];
}
