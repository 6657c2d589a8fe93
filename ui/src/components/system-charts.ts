import type { Limits } from '../chart/axis.js';
import type { RunPlace } from '../data/node-of-run.js';

export interface SystemChart {
  readonly title: string;
  readonly lines: readonly SystemLine[];
  readonly limits: Partial<Limits>;
}

interface SystemLine {
  /** Of the node metric. */
  readonly name: string;
  readonly label: string;
  /** What its values are multiplied by. */
  readonly scale: number;
}

const GIB_OF_MIB = 1 / 1024;
const OF_SLOTS = [
  { title: 'GPU utilization, %', name: 'util', scale: 1, limits: { min: 0, max: 100 } },
  { title: 'GPU memory, GiB', name: 'mem_used_mb', scale: GIB_OF_MIB, limits: { min: 0 } },
  { title: 'GPU temperature, °C', name: 'temp_c', scale: 1, limits: {} },
  { title: 'GPU power, W', name: 'power_w', scale: 1, limits: { min: 0 } },
] as const;
const OF_NODE = [
  { title: 'CPU utilization, %', name: 'cpu.util', scale: 1, limits: { min: 0, max: 100 } },
  { title: 'RAM used, GiB', name: 'ram.used_mb', scale: GIB_OF_MIB, limits: { min: 0 } },
] as const;

/** The charts of the slots of a run, all slots of the node where nobody knows them, and of the node. */
export function systemChartsOf({ node, slots }: RunPlace): SystemChart[] {
  const shown = (slots ?? node.slots.map(({ index }) => index)).toSorted((a, b) => a - b);
  const ofSlots = OF_SLOTS.map(({ title, name, scale, limits }) => ({
    title,
    limits,
    lines: shown.map((slot) => ({ name: `gpu.${slot}.${name}`, label: `slot ${slot}`, scale })),
  }));
  const ofNode = OF_NODE.map(({ title, name, scale, limits }) => ({
    title,
    limits,
    lines: [{ name, label: 'latest', scale }],
  }));
  return [...ofSlots.filter(({ lines }) => lines.length > 0), ...ofNode];
}
