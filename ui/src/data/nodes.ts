import type { NodeRecord, NodeSeries, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { NodeRecord, NodeSeries };

const LIST = endpoint<typeof routes.listNodes>('GET', '/nodes');
const DRAIN = endpoint<typeof routes.drainNode>('POST', '/nodes/{node_id}/drain');
const UNDRAIN = endpoint<typeof routes.undrainNode>('POST', '/nodes/{node_id}/undrain');

const METRICS = endpoint<typeof routes.readNodeMetrics>('GET', '/nodes/{node_id}/metrics');
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

export function drainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(DRAIN, { params: { node_id: nodeId } });
}

export function undrainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(UNDRAIN, { params: { node_id: nodeId } });
}
