import { sweepMarked } from '../../src/agent/process-table.js';

/** Kills every process of every job of that node. */
export async function killLeftovers(nodeId: string): Promise<void> {
  await sweepMarked({ SVC_NODE_ID: nodeId }, () => true);
}
