import type { NodeCapacity } from '@svc/plugin-nodes';
import type { JobRequirements } from './queue-item.js';

/** Pending reasons that say why no node can run a job. */

export function noneOnline(nodes: readonly NodeCapacity[]): string {
  if (nodes.length === 0) return 'no node has registered yet: start an agent';
  const away = enumerate(
    nodes,
    ({ name, status }) => `${name} is ${status === 'OFFLINE' ? 'OFFLINE' : 'disconnected'}`,
  );
  return `no node is online: ${away}`;
}

/** `away`: the nodes that match but are not online. */
export function noneMatches({ node_selector }: JobRequirements, away: readonly NodeCapacity[]): string {
  let selector = '';
  for (const label in node_selector)
    selector += `${selector === '' ? '' : ', '}${label}=${node_selector[label]}`;
  const hint = away.length > 0 ? `; ${names(away)} would, but is not online` : '';
  return `no online node matches node_selector ${selector}${hint}`;
}

export function allDraining(matching: readonly NodeCapacity[]): string {
  return `every node that matches is draining: ${names(matching)}`;
}

export function noneRuns(runner: string, nodes: readonly NodeCapacity[]): string {
  return `no node that matches can use the runner "${runner}": ${whyNot(runner, nodes)}`;
}

/**
 * `largest`: the number of usable slots of the largest node with the runner of the job; `unable`: the nodes that would be large enough and
 * cannot use that runner.
 */
export function noneLargeEnough(
  { gpu, node_selector, runner }: JobRequirements,
  largest: number,
  unable: readonly NodeCapacity[],
): string {
  const which = Object.keys(node_selector).length === 0 ? 'online' : 'matching';
  const node = unable.length === 0 ? `${which} node` : `${which} node with the runner "${runner}"`;
  const others =
    unable.length === 0 ? '' : `; large enough, but without that runner: ${whyNot(runner, unable)}`;
  if (gpu === 0) return `no ${node} takes cpu-only jobs${others}`;
  const has = largest === 0 ? `no ${node} has one` : `the largest ${node} has ${largest}`;
  return `needs ${gpu} GPU${gpu === 1 ? '' : 's'}: ${has}${others}`;
}

function whyNot(runner: string, nodes: readonly NodeCapacity[]): string {
  return enumerate(nodes, (node) => {
    const probe = node.runners.find(({ name }) => name === runner);
    return `${node.name}: ${probe?.reason ?? 'its agent has no such runner'}`;
  });
}

function names(nodes: readonly NodeCapacity[]): string {
  return enumerate(nodes, ({ name }) => name);
}

const SHOWN = 3;

function enumerate(nodes: readonly NodeCapacity[], toText: (node: NodeCapacity) => string): string {
  const more = nodes.length - SHOWN;
  return nodes.slice(0, SHOWN).map(toText).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
