import type { NodeRecord, NodeSnapshot, SlotFigures, SlotProcess } from '@svc/contract';
import type { NodeFigures } from '@svc/plugin-nodes';
import type { NodeBuffer } from './node-buffer.js';

/** What is older says nothing of the present. */
const PRESENT_MS = 60_000;
/** Of a slot, in the record of its node: the list of all nodes has them too. */
const MOST_SLOT_PROCESSES = 4;
const MOST_NAME_CHARS = 64;

type Measurement = { readonly value: number; readonly ts: number };

/**
 * Tells which measurements are of the last 60 s; null: none is. Ages are counted from the node's newest sample, which came at `heardAt`: the clocks of
 * hosts differ.
 */
function isPresentIn(buffer: NodeBuffer, now: number): ((measured: Measurement) => boolean) | null {
  const { heardAt, newest } = buffer;
  const silentMs = now - heardAt;
  if (silentMs > PRESENT_MS || newest === null) return null;
  return ({ ts }) => newest - ts + silentMs <= PRESENT_MS;
}

export function toSnapshot(nodeId: string, buffer: NodeBuffer | null, now: number): NodeSnapshot {
  const isPresent = buffer && isPresentIn(buffer, now);
  if (buffer === null || isPresent === null)
    return { node_id: nodeId, ts: null, metrics: {}, processes: [], host_processes: [] };
  const { newest, latest, processes, hostProcesses } = buffer;
  const metrics = Object.fromEntries([...latest].filter(([, measured]) => isPresent(measured)));
  return {
    node_id: nodeId,
    ts: newest,
    metrics,
    processes: [...processes],
    host_processes: [...hostProcesses],
  };
}

/** What the record of the node shows; null when nothing is known of the last 60 s. */
export function toFigures({ slots }: NodeRecord, buffer: NodeBuffer, now: number): NodeFigures | null {
  const isPresent = isPresentIn(buffer, now);
  if (isPresent === null) return null;
  const valueOf = (name: string): number | null => {
    const measured = buffer.latest.get(name);
    return measured !== undefined && isPresent(measured) ? measured.value : null;
  };
  const processes = groupBySlot(buffer);
  return {
    live: {
      ts: buffer.newest as number,
      cpu_util: valueOf('cpu.util'),
      ram_used_mb: valueOf('ram.used_mb'),
      disk_used_gb: valueOf('disk.used_gb'),
      disk_free_gb: valueOf('disk.free_gb'),
      net_rx_bps: valueOf('net.rx_bps'),
      net_tx_bps: valueOf('net.tx_bps'),
    },
    slots: new Map(slots.map(({ index }) => [index, toSlotFigures(index, valueOf, processes.get(index))])),
  };
}

function toSlotFigures(
  index: number,
  valueOf: (name: string) => number | null,
  processes: readonly SlotProcess[] = [],
): SlotFigures {
  const figure = (name: string) => valueOf(`gpu.${index}.${name}`);
  return {
    utilization: figure('util'),
    memory_used_mb: figure('mem_used_mb'),
    temperature_c: figure('temp_c'),
    power_w: figure('power_w'),
    sm_clock_mhz: figure('sm_clock_mhz'),
    mem_clock_mhz: figure('mem_clock_mhz'),
    processes: processes.toSorted((a, b) => b.mem_mb - a.mem_mb).slice(0, MOST_SLOT_PROCESSES),
  };
}

function groupBySlot({ processes }: NodeBuffer): ReadonlyMap<number, SlotProcess[]> {
  const groups = new Map<number, SlotProcess[]>();
  for (const { gpu, ...process } of processes) {
    const shown = { ...process, name: process.name.slice(0, MOST_NAME_CHARS) };
    const group = groups.get(gpu);
    if (group) group.push(shown);
    else groups.set(gpu, [shown]);
  }
  return groups;
}
