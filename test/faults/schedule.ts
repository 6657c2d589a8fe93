import type { CutMode, CutTraffic } from './cutting-proxy.js';
import type { Random } from './random.js';

const FAULTS_WITHIN_MS = 3000;
export const NODES = 2;

/** `atMs` since the round began; `forMs`: how long it lasts. `which` in [0, 1) picks among what runs then. */
export type Fault = { readonly atMs: number } & (
  | { readonly kind: 'kill-server' | 'pause-server' | 'restart-server'; readonly forMs: number }
  | {
      readonly kind: 'kill-agent' | 'pause-agent' | 'restart-agent';
      readonly node: number;
      readonly forMs: number;
    }
  | { readonly kind: 'kill-shim' | 'kill-process'; readonly which: number }
  | {
      readonly kind: 'cut';
      readonly node: number;
      readonly mode: CutMode;
      readonly traffic: CutTraffic;
      readonly forMs: number;
    }
  | { readonly kind: 'fill-server-disk'; readonly forMs: number }
  | { readonly kind: 'fill-agent-disk'; readonly node: number; readonly forMs: number }
);
export type FaultKind = Fault['kind'];

/** How often each comes up, as a weight. */
const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  'kill-server': 3,
  'pause-server': 2,
  'restart-server': 2,
  'kill-agent': 3,
  'pause-agent': 3,
  'restart-agent': 2,
  'kill-shim': 2,
  'kill-process': 2,
  cut: 5,
  'fill-server-disk': 1,
  'fill-agent-disk': 1,
};
const LOTS = (Object.keys(WEIGHTS) as FaultKind[]).flatMap((kind) =>
  Array.from({ length: WEIGHTS[kind] }, () => kind),
);

/** In the order of time. */
export function planFaults(random: Random): Fault[] {
  const faults = Array.from({ length: random.integer(2, 5) }, () => planFault(random));
  return faults.sort((one, other) => one.atMs - other.atMs);
}

function planFault(random: Random): Fault {
  const kind = random.pick(LOTS);
  const atMs = random.integer(150, FAULTS_WITHIN_MS);
  const node = random.integer(0, NODES - 1);
  switch (kind) {
    case 'kill-server':
    case 'restart-server':
      return { kind, atMs, forMs: random.integer(0, 800) };
    case 'pause-server':
      return { kind, atMs, forMs: random.integer(200, 3500) };
    case 'kill-agent':
    case 'restart-agent':
      return { kind, atMs, node, forMs: random.integer(0, 1500) };
    case 'pause-agent':
      return { kind, atMs, node, forMs: random.integer(200, 6000) };
    case 'kill-shim':
    case 'kill-process':
      return { kind, atMs, which: random.fraction() };
    case 'cut': {
      const mode = random.pick(['refuse', 'reset', 'swallow', 'hold', 'delay'] as const);
      const traffic = random.pick(['agent', 'sdk', 'all', 'all'] as const);
      return { kind, atMs, node, mode, traffic, forMs: random.integer(100, 4500) };
    }
    case 'fill-server-disk':
      return { kind, atMs, forMs: random.integer(300, 2000) };
    case 'fill-agent-disk':
      return { kind, atMs, node, forMs: random.integer(300, 2000) };
  }
}

/** Faults of one lane follow each other; those of different lanes overlap as they come. */
export function laneOf(fault: Fault): string {
  if (fault.kind === 'cut') return `net-${fault.node}`;
  if (fault.kind === 'fill-agent-disk') return `disk-${fault.node}`;
  if (fault.kind === 'kill-shim' || fault.kind === 'kill-process') return `${fault.kind}-${fault.atMs}`;
  return 'node' in fault ? `agent-${fault.node}` : fault.kind === 'fill-server-disk' ? 'disk' : 'server';
}

export function describeFault(fault: Fault): string {
  const { kind, atMs, ...rest } = fault;
  const details = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'number' ? +value.toFixed(3) : value}`,
  );
  return [`${atMs} ms`, kind, ...details].join(' ');
}
