import type { NodeRecord } from '@svc/contract';
import os from 'node:os';

export interface Wanted {
  readonly nodes: readonly NodeRecord[];
  /** Labels that the user asked for. */
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  /** Number of GPUs. */
  readonly gpu: number;
  readonly hostname?: string;
}

export interface Binding {
  /** Binds the job to this host; null: it stays as the user gave it. */
  readonly nodeSelector: Readonly<Record<string, string>> | null;
  /** What to tell the user; null: the job can run on this host alone anyway. */
  readonly sentence: string | null;
}

/** For a job that runs in a directory of this host: another node that is online may lack the directory. */
export function bindToThisHost({ nodes, nodeSelector, gpu, hostname = os.hostname() }: Wanted): Binding {
  const online = nodes.filter((node) => node.status === 'ONLINE' && hasLabels(node, nodeSelector ?? {}));
  const here = online.filter((node) => node.hostname === hostname);
  if (here.length === online.length) return { nodeSelector: null, sentence: null };
  const fits = here.some(({ slots }) => slots.length >= gpu);
  if (nodeSelector === undefined && fits)
    return {
      nodeSelector: { hostname },
      sentence: `the job runs on this host alone (--node-selector hostname=${hostname}), because other nodes may lack this directory; --upload lets it run on any node`,
    };
  return {
    nodeSelector: null,
    sentence:
      'the job may run on a node of another host, which may lack this directory; --upload sends it along',
  };
}

/** As the server compares them: its own labels come before those of the agent. */
function hasLabels(
  { id, name, hostname, labels }: NodeRecord,
  wanted: Readonly<Record<string, string>>,
): boolean {
  const all: Record<string, string> = { ...labels, node: name, node_id: id, hostname };
  return Object.entries(wanted).every(([label, value]) => all[label] === value);
}
