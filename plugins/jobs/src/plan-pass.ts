import { yieldIfSliceOver } from '@svc/kernel';
import type { NodeCapacity } from '@svc/plugin-nodes';
import { findFitting, wantedSlots } from './fit.js';
import { backingOff, waitingForCpu, waitingForGpus, type Freest } from './pending-reason.js';
import type { IsExternal, QueueItem } from './queue-item.js';
import type { Placement } from './steps.js';

/** After this many jobs the pass may yield to the event loop. */
const JOBS_PER_YIELD = 100;

export interface PassContext {
  readonly now: number;
  readonly starvationAfterMs: number;
  /** A `not_before` further away than this means that the clock was set back: the job need not wait. */
  readonly backoffMaxMs: number;
  readonly isExternal: IsExternal;
}

export interface PassPlan {
  readonly placements: readonly Placement[];
  /** The pending reason of every job of the queue that is not placed. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Jobs that are now the first to wait for their nodes, and were not in the pass before. */
  readonly newHeads: readonly string[];
}

/** A node with what is still free on it during the pass. */
interface NodeBudget extends NodeCapacity {
  freeSlots: NodeCapacity['slots'];
  freeCpu: number;
  /** Kept free for a job that has waited too long: no job behind it takes a slot of this node. */
  isReserved: boolean;
  /** A job further ahead in the queue waits for this node. */
  hasWaitingJob: boolean;
}

/** Jobs with the same requirements. Once one of them cannot be placed, none behind it can. */
interface JobClass {
  /** The nodes that could run these jobs, or the pending reason when there are none. */
  readonly nodes: readonly NodeBudget[] | string;
  isStuck: boolean;
}

/**
 * Plans one scheduling pass over the queue, first to run first, and changes nothing. It yields to the event loop from time to time.
 *
 * - A job that cannot be placed does not block those behind it. But the first job that waits for a set of nodes is their head: after
 *   `starvationAfterMs` as the head, the node with the most free slots for it is reserved for it.
 *   A node whose GPUs are too few as long as some are in trouble is not reserved: nobody knows when they are well.
 * - GPU jobs are packed: the node with the fewest free slots that suffice, so that large gaps stay for large jobs.
 * - cpu-only jobs are spread: the node with the most free places.
 * - A job that prefers a node goes there if it has room.
 * - Jobs that another engine schedules go to any node with their runner.
 */
export async function planPass(
  queue: readonly QueueItem[],
  nodes: readonly NodeCapacity[],
  context: PassContext,
): Promise<PassPlan> {
  const pass = new Pass(nodes, context);
  const placements: Placement[] = [];
  const reasons = new Map<string, string>();
  for (const [index, job] of queue.entries()) {
    if (index % JOBS_PER_YIELD === 0) await yieldIfSliceOver();
    const outcome = pass.decide(job);
    if (typeof outcome === 'string') reasons.set(job.id, outcome);
    else placements.push(outcome);
  }
  return { placements, reasons, newHeads: pass.newHeads };
}

/** Whether the time is in the future, but not further than it can have been set. */
export function isAhead(at: number, now: number, atMostMs: number): boolean {
  return at > now && at - now <= atMostMs;
}

class Pass {
  readonly newHeads: string[] = [];
  readonly #budgets: readonly NodeBudget[];
  readonly #context: PassContext;
  readonly #classes = new Map<string, JobClass>();
  readonly #waiting = { gpu: 0, cpu: 0 };

  constructor(nodes: readonly NodeCapacity[], context: PassContext) {
    this.#budgets = nodes.map(toBudget);
    this.#context = context;
  }

  /** Where the job goes, or why it waits. */
  decide(job: QueueItem): Placement | string {
    const { now, backoffMaxMs, isExternal } = this.#context;
    if (job.not_before !== null && isAhead(job.not_before, now, backoffMaxMs))
      return backingOff(job.attempt, job.not_before);
    const jobClass = this.#classOf(job);
    const { nodes, isStuck } = jobClass;
    if (typeof nodes === 'string') return nodes;
    const placement = isStuck ? null : place(job, nodes, isExternal(job.runner));
    if (placement) return placement;
    jobClass.isStuck = true;
    if (job.gpu === 0) return waitingForCpu(this.#waiting.cpu++);
    if (isStuck) return waitingForGpus(job.gpu, this.#waiting.gpu++);
    this.#waitForOneOf(nodes, job);
    return waitingForGpus(job.gpu, this.#waiting.gpu++, troubledSlots(nodes, job), freest(nodes, job));
  }

  #classOf(job: QueueItem): JobClass {
    const key = `${job.gpu} ${job.runner} ${JSON.stringify(job.node_selector)}`;
    let jobClass = this.#classes.get(key);
    if (!jobClass) {
      const nodes = findFitting(job, this.#budgets, this.#context.isExternal(job.runner));
      this.#classes.set(key, (jobClass = { nodes, isStuck: false }));
    }
    return jobClass;
  }

  /** The job is the head of these nodes when no job before it waits for any of them. */
  #waitForOneOf(nodes: readonly NodeBudget[], job: QueueItem): void {
    const { now, starvationAfterMs } = this.#context;
    const isHead = nodes.every(({ hasWaitingJob }) => !hasWaitingJob);
    for (const node of nodes) node.hasWaitingJob = true;
    if (!isHead) return;
    if (job.head_since === null || job.head_since > now) this.newHeads.push(job.id);
    else if (now - job.head_since >= starvationAfterMs) {
      const sound = nodes.filter((node) => hasSoundSlots(node, job));
      const kept = best(sound, ({ freeSlots }) => wantedSlots(freeSlots, job).length);
      if (kept) kept.isReserved = true;
    }
  }
}

function toBudget(node: NodeCapacity): NodeBudget {
  const freeSlots = node.slots.filter(({ free, trouble }) => free && trouble === null);
  const freeCpu = node.max_cpu_jobs - node.cpu_jobs;
  return { ...node, freeSlots, freeCpu, isReserved: false, hasWaitingJob: false };
}

/** Whether it could run the job if it were empty, as its GPUs are now. */
function hasSoundSlots({ slots }: NodeCapacity, job: QueueItem): boolean {
  return wantedSlots(slots, job).filter(({ trouble }) => trouble === null).length >= job.gpu;
}

const WORST_FIRST = ['unhealthy', 'quarantined', 'foreign'] as const;

/** Of the free slots that the job could have, those in trouble, as sentences: what does not pass by itself comes first. */
function troubledSlots(nodes: readonly NodeBudget[], job: QueueItem): string[] {
  const troubled = nodes.flatMap(({ name, slots }) =>
    wantedSlots(slots, job)
      .filter(({ free, trouble }) => free && trouble !== null)
      .map(({ index, trouble, health }) => ({ health, text: `GPU ${index} of ${name} ${trouble}` })),
  );
  return WORST_FIRST.flatMap((state) =>
    troubled.filter(({ health }) => health === state).map(({ text }) => text),
  );
}

function freest(nodes: readonly NodeBudget[], job: QueueItem): Freest | null {
  const node = best(nodes, ({ freeSlots }) => wantedSlots(freeSlots, job).length);
  if (!node) return null;
  const count = (slots: NodeBudget['slots']) => wantedSlots(slots, job).length;
  return { node: node.name, free: count(node.freeSlots), of: count(node.slots) };
}

function place(job: QueueItem, nodes: readonly NodeBudget[], isExternal: boolean): Placement | null {
  if (isExternal) return { ...toPlacement(job, nodes[0]!, []), isExternal };
  return job.gpu === 0 ? placeCpu(job, nodes) : placeGpus(job, nodes);
}

function placeGpus(job: QueueItem, nodes: readonly NodeBudget[]): Placement | null {
  const free = (node: NodeBudget) => wantedSlots(node.freeSlots, job);
  const candidates = nodes.filter((node) => !node.isReserved && free(node).length >= job.gpu);
  const node = preferred(job, candidates) ?? best(candidates, (each) => -free(each).length);
  if (!node) return null;
  const taken = free(node).slice(0, job.gpu);
  node.freeSlots = node.freeSlots.filter((slot) => !taken.includes(slot));
  return toPlacement(
    job,
    node,
    taken.map(({ index }) => index),
  );
}

function placeCpu(job: QueueItem, nodes: readonly NodeBudget[]): Placement | null {
  const candidates = nodes.filter(({ freeCpu }) => freeCpu > 0);
  const node = preferred(job, candidates) ?? best(candidates, ({ freeCpu }) => freeCpu);
  if (!node) return null;
  node.freeCpu--;
  return toPlacement(job, node, []);
}

function preferred(
  { preferred_node_id }: QueueItem,
  candidates: readonly NodeBudget[],
): NodeBudget | undefined {
  return preferred_node_id === null ? undefined : candidates.find(({ id }) => id === preferred_node_id);
}

/** The first of those with the highest score. */
function best<T>(items: readonly T[], toScore: (item: T) => number): T | undefined {
  const scores = items.map(toScore);
  return items[scores.indexOf(Math.max(...scores))];
}

function toPlacement(
  { id: job_id, attempt }: QueueItem,
  { id, name }: NodeBudget,
  gpu_indices: readonly number[],
): Placement {
  return { job_id, attempt, node: { id, name }, gpu_indices };
}
