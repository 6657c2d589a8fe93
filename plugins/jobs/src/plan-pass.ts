import type { NodeCapacity } from '@svc/plugin-nodes';
import { Cluster } from './fit.js';
import { getOrAdd } from './get-or-add.js';
import { backingOff, waitingForCpu, waitingForGpus } from './pending-reason.js';
import type { IsExternal, QueueItem } from './queue-item.js';
import type { Placement } from './steps.js';

export interface PassContext {
  readonly now: number;
  readonly starvationAfterMs: number;
  /** A job that would have to wait longer than this was queued before the clock was set back: it waits no more. */
  readonly backoffMaxMs: number;
  readonly isExternal: IsExternal;
}

export interface PassPlan {
  readonly placements: readonly Placement[];
  /** A sentence for every job of the queue that is not placed. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Jobs that are the first to wait for their nodes, and have not been before. */
  readonly newHeads: readonly string[];
}

/** The free places of a node during the pass; they only become fewer. */
interface Room {
  readonly node: NodeCapacity;
  readonly freeSlots: { readonly index: number; readonly model: string }[];
  freeCpu: number;
  /** A job that has waited for too long gets this node: nobody behind it takes a slot here. */
  isKept: boolean;
  /** Some job before waits for this node. */
  isAwaited: boolean;
}

/** Jobs that fit the same nodes and need as much there. Once one of them cannot be placed, none behind it can. */
interface Kind {
  readonly rooms: readonly Room[];
  /** Only slots of this model count; null: all do. */
  readonly gpuModel: string | null;
  readonly isExternal: boolean;
  isStuck: boolean;
}

/** What jobs of one selector ask for, in a chain: most selectors have one. */
interface KnownWants extends Pick<QueueItem, 'gpu' | 'runner'> {
  readonly kind: Kind | string;
  readonly next: KnownWants | undefined;
}

/**
 * One scheduling pass over the queue, first to run first. Pure.
 *
 * - A job that cannot be placed blocks nobody behind it. But the first that waits for its nodes is their head; after
 *   `starvationAfterMs` as such, the node where it lacks least is kept for it.
 * - GPU jobs are packed: the node with the fewest free slots that suffice, so that large gaps stay for large jobs.
 * - cpu-only jobs are spread: the node with the most free places.
 * - Jobs that another engine schedules go to any node with their runner.
 */
export function planPass(
  queue: readonly QueueItem[],
  nodes: readonly NodeCapacity[],
  { now, starvationAfterMs, backoffMaxMs, isExternal }: PassContext,
): PassPlan {
  const kinds = new Kinds(nodes, isExternal);
  const placements: Placement[] = [];
  const reasons = new Map<string, string>();
  const newHeads: string[] = [];
  const waiting = { gpu: 0, cpu: 0 };

  for (const job of queue) {
    if (job.not_before !== null && isAhead(job.not_before, now, backoffMaxMs)) {
      reasons.set(job.id, backingOff(job.attempt, job.not_before));
      continue;
    }
    const kind = kinds.of(job);
    if (typeof kind === 'string') {
      reasons.set(job.id, kind);
      continue;
    }
    const placement = kind.isStuck ? null : place(job, kind);
    if (placement) {
      placements.push(placement);
      continue;
    }
    reasons.set(
      job.id,
      job.gpu === 0 ? waitingForCpu(waiting.cpu++) : waitingForGpus(job.gpu, waiting.gpu++),
    );
    if (!kind.isStuck && job.gpu > 0 && isHead(kind)) {
      if (job.head_since === null || job.head_since > now) newHeads.push(job.id);
      else if (now - job.head_since >= starvationAfterMs) keepNode(kind);
    }
    kind.isStuck = true;
  }
  return { placements, reasons, newHeads };
}

/** In the future, and not further than it can have been when it was set. */
export function isAhead(at: number, now: number, atMostMs: number): boolean {
  return at > now && at - now <= atMostMs;
}

function toRoom(node: NodeCapacity): Room {
  const freeSlots = node.slots.filter(({ free }) => free).map(({ index, model }) => ({ index, model }));
  return { node, freeSlots, freeCpu: node.max_cpu_jobs - node.cpu_jobs, isKept: false, isAwaited: false };
}

/** Tells for very many jobs of what kind they are. */
class Kinds {
  readonly #cluster: Cluster;
  readonly #isExternal: IsExternal;
  readonly #rooms: ReadonlyMap<NodeCapacity, Room>;
  /** By selector: one object for equal ones makes a pass quicker, nothing else. */
  readonly #known = new Map<QueueItem['node_selector'], KnownWants>();
  readonly #byNodes = new Map<readonly NodeCapacity[], Map<string, Kind>>();

  constructor(nodes: readonly NodeCapacity[], isExternal: IsExternal) {
    this.#isExternal = isExternal;
    this.#cluster = new Cluster(nodes, isExternal);
    this.#rooms = new Map(nodes.map((node) => [node, toRoom(node)]));
  }

  /** Or why no node fits it. */
  of(job: QueueItem): Kind | string {
    const first = this.#known.get(job.node_selector);
    for (let known = first; known; known = known.next)
      if (known.gpu === job.gpu && known.runner === job.runner) return known.kind;
    const kind = this.#find(job);
    this.#known.set(job.node_selector, { gpu: job.gpu, runner: job.runner, kind, next: first });
    return kind;
  }

  #find(job: QueueItem): Kind | string {
    const { nodes, gpuModel, problem } = this.#cluster.fit(job);
    if (problem !== null) return problem;
    const ofNodes = getOrAdd(this.#byNodes, nodes, () => new Map<string, Kind>());
    const isExternal = this.#isExternal(job.runner);
    return getOrAdd(ofNodes, `${isExternal ? 'external' : job.gpu} ${gpuModel ?? ''}`, () => {
      const rooms = nodes.map((node) => this.#rooms.get(node)!);
      return { rooms, gpuModel, isExternal, isStuck: false };
    });
  }
}

function place(job: QueueItem, kind: Kind): Placement | null {
  if (kind.isExternal) return placeExternal(job, kind);
  return job.gpu === 0 ? placeCpu(job, kind) : placeGpus(job, kind);
}

function placeGpus(job: QueueItem, kind: Kind): Placement | null {
  let best: { room: Room; free: readonly { readonly index: number }[] } | null = null;
  for (const room of kind.rooms) {
    if (room.isKept) continue;
    const free = freeOf(room, kind);
    if (free.length >= job.gpu && (!best || free.length < best.free.length)) best = { room, free };
  }
  if (!best) return null;
  const taken = best.free.slice(0, job.gpu).map(({ index }) => index);
  removeSlots(best.room, taken);
  return { job_id: job.id, attempt: job.attempt, node: nameOf(best.room), gpu_indices: taken };
}

function placeCpu(job: QueueItem, kind: Kind): Placement | null {
  let best: Room | null = null;
  for (const room of kind.rooms) {
    if (room.freeCpu > 0 && (!best || room.freeCpu > best.freeCpu)) best = room;
  }
  if (!best) return null;
  best.freeCpu--;
  return { job_id: job.id, attempt: job.attempt, node: nameOf(best), gpu_indices: [] };
}

function placeExternal({ id: job_id, attempt }: QueueItem, { rooms }: Kind): Placement {
  return { job_id, attempt, node: nameOf(rooms[0]!), gpu_indices: [], isExternal: true };
}

/** Nobody before it waits for any of its nodes. From here on it does. */
function isHead(kind: Kind): boolean {
  const isFirst = kind.rooms.every((room) => !room.isAwaited);
  for (const room of kind.rooms) room.isAwaited = true;
  return isFirst;
}

/** Keeps the node that lacks least. */
function keepNode(kind: Kind): void {
  const [first, ...rest] = kind.rooms;
  if (!first) return;
  const free = (room: Room) => freeOf(room, kind).length;
  rest.reduce((best, room) => (free(room) > free(best) ? room : best), first).isKept = true;
}

function freeOf(room: Room, { gpuModel }: Kind): readonly { readonly index: number }[] {
  return gpuModel === null ? room.freeSlots : room.freeSlots.filter(({ model }) => model === gpuModel);
}

function removeSlots(room: Room, indices: readonly number[]): void {
  const kept = room.freeSlots.filter(({ index }) => !indices.includes(index));
  room.freeSlots.splice(0, room.freeSlots.length, ...kept);
}

function nameOf({ node }: Room): Placement['node'] {
  return { id: node.id, name: node.name };
}
