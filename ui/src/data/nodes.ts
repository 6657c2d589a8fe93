import type { NodeRecord } from '@svc/contract';
import type { Api } from './api.js';

export type { NodeRecord };

export async function listNodes(api: Api, signal?: AbortSignal): Promise<NodeRecord[]> {
  return (await api.get<{ items: NodeRecord[] }>('/nodes', { limit: 1000 }, signal)).items;
}

export function drainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.post<NodeRecord>(`/nodes/${encodeURIComponent(nodeId)}/drain`);
}

export function undrainNode(api: Api, nodeId: string): Promise<NodeRecord> {
  return api.post<NodeRecord>(`/nodes/${encodeURIComponent(nodeId)}/undrain`);
}
