import { formatCount, formatMegabytes, shortId } from '../format.js';
import type { Job } from '../data/jobs.js';
import type { NodeRecord, Slot } from '../data/nodes.js';
import type { IconName } from './icons.js';

/** What a slot is to somebody who looks for a GPU. */
export interface SlotState {
  readonly name: 'busy' | 'free' | 'draining' | 'offline' | Slot['health']['state'];
  readonly label: string;
  readonly icon: IconName;
}

const STATES = {
  busy: { label: 'Busy', icon: 'jobs' },
  free: { label: 'Free', icon: 'queued' },
  draining: { label: 'Draining', icon: 'draining' },
  offline: { label: 'Offline', icon: 'offline' },
  ok: { label: 'OK', icon: 'check' },
  foreign: { label: 'Foreign', icon: 'foreign' },
  quarantined: { label: 'Quarantined', icon: 'quarantined' },
  unhealthy: { label: 'Unhealthy', icon: 'warning' },
} as const satisfies Record<SlotState['name'], Omit<SlotState, 'name'>>;

/** In the order in which they are counted. */
export const SLOT_STATES = [
  'busy',
  'free',
  'draining',
  'foreign',
  'quarantined',
  'unhealthy',
  'offline',
] as const;

export function slotState(name: SlotState['name']): SlotState {
  return { name, ...STATES[name] };
}

/** Trouble comes first: a slot that is not well takes no job, whatever runs on it. */
export function stateOfSlot({ status }: NodeRecord, { health, busy }: Slot): SlotState {
  if (status === 'OFFLINE') return slotState('offline');
  if (health.state !== 'ok') return slotState(health.state);
  if (busy) return slotState('busy');
  return slotState(status === 'DRAINING' ? 'draining' : 'free');
}

/** How many slots are in each state, in the order of `SLOT_STATES`: busy and free ones in any case, others where there are some. */
export function countSlots(nodes: readonly NodeRecord[]): { state: SlotState; count: number }[] {
  const names = nodes.flatMap((node) => node.slots.map((slot) => stateOfSlot(node, slot).name));
  return SLOT_STATES.map((name) => ({
    state: slotState(name),
    count: names.filter((each) => each === name).length,
  })).filter(({ state, count }) => count > 0 || state.name === 'busy' || state.name === 'free');
}

/** `5 busy · 0 free · 3 foreign`. */
export function describeSlots(node: NodeRecord): string {
  return joined(
    countSlots([node]).map(({ state, count }) => `${formatCount(count)} ${state.label.toLowerCase()}`),
  );
}

/** The one kind of device that all slots of the node stand for; empty when they differ. */
export function modelOf({ slots }: Pick<NodeRecord, 'slots'>): string {
  const models = new Set(slots.map(describeDevice));
  return models.size === 1 ? [...models][0]! : '';
}

export function isTroubled({ name }: SlotState): boolean {
  return name === 'foreign' || name === 'quarantined' || name === 'unhealthy';
}

/** `is used by python (pid 4711)` as a sentence about the GPU; null while it is well. */
export function reasonOfSlot({ health }: Slot): string | null {
  return health.state === 'ok' ? null : `It ${health.reason ?? 'gives no reason'}.`;
}

/** `process (Node.js v22.1.0)`. */
export function describeRunner({ name, version }: NodeRecord['runners'][number]): string {
  return version ? `${name} (${version})` : name;
}

/** `NVIDIA H100 · 80 GiB`. */
export function describeDevice({ model, memory_total_mb: memory, virtual }: Slot): string {
  return joined([model, memory !== null && formatMegabytes(memory), virtual && 'virtual, no device']);
}

/** `63 %`; null where it was not measured. */
export function percent(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : `${Math.round(value)} %`;
}

/** `40 GiB of 80 GiB`. */
export function describeMemory({ memory_used_mb: used, memory_total_mb: total }: Slot): string | null {
  if (used === null) return null;
  return total === null ? formatMegabytes(used) : `${formatMegabytes(used)} of ${formatMegabytes(total)}`;
}

/** `40 / 80 GiB`, where there is little room. */
export function shortMemory({ memory_used_mb: used, memory_total_mb: total }: Slot): string | null {
  if (used === null) return null;
  if (total === null || total < 1024) return formatMegabytes(used);
  const gib = (mb: number) => Math.round(mb / 1024);
  return `${gib(used)} / ${gib(total)} GiB`;
}

export function celsius({ temperature_c: value }: Slot): string | null {
  return value === null ? null : `${Math.round(value)} °C`;
}

export function nameOfJob(jobs: ReadonlyMap<string, Pick<Job, 'name'>>, jobId: string): string {
  return jobs.get(jobId)?.name ?? `Job ${shortId(jobId)}`;
}

/** Those on the GPU that are of no job. */
export function foreignProcesses({ processes }: Slot) {
  return processes.filter(({ job_id: jobId }) => jobId === null);
}

/** `python (pid 4711, alice, 10 GiB)`. */
export function describeProcess({ pid, name, user, mem_mb: memory }: Slot['processes'][number]): string {
  return `${name} (${[`pid ${pid}`, user, formatMegabytes(memory)].filter(Boolean).join(', ')})`;
}

export function joined(parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' · ');
}
