import type { NodeRecord, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { NodeRecord };

const LIST = endpoint<typeof routes.listNodes>('GET', '/nodes');
const DRAIN = endpoint<typeof routes.drainNode>('POST', '/nodes/{node_id}/drain');
const UNDRAIN = endpoint<typeof routes.undrainNode>('POST', '/nodes/{node_id}/undrain');

export async function listNodes(api: Api, signal?: AbortSignal): Promise<NodeRecord[]> {
  return (await api.call(LIST, { query: { limit: 1000 }, signal })).items;
}

export function drainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(DRAIN, { params: { node_id: nodeId } });
}

export function undrainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.call(UNDRAIN, { params: { node_id: nodeId } });
}
