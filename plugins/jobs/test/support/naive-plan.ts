import type { NodeCapacity } from '@svc/plugin-nodes';
import * as sentence from '../../src/fit-problem.js';
import { backingOff, waitingForCpu, waitingForGpus } from '../../src/pending-reason.js';
import type { PassContext } from '../../src/plan-pass.js';
import type { QueueItem } from '../../src/queue-item.js';

/** What a node has left as the pass goes on. */
interface Left {
  readonly node: NodeCapacity;
  slots: { readonly index: number; readonly model: string }[];
  cpu: number;
  isKept: boolean;
  isAwaited: boolean;
}

export interface NaivePlan {
  readonly placements: [id: string, node: string, gpuIndices: number[]][];
  readonly reasons: [id: string, reason: string][];
  readonly newHeads: string[];
}

/** The rules of a pass word by word: each job looks at every node, and nothing is remembered from one to the next. */
export function naivePlan(
  queue: readonly QueueItem[],
  nodes: readonly NodeCapacity[],
  { now, starvationAfterMs, isExternal }: PassContext,
): NaivePlan {
  const lefts = nodes.map((node): Left => {
    const slots = node.slots.filter(({ free, trouble }) => free && trouble === null);
    return { node, slots, cpu: node.max_cpu_jobs - node.cpu_jobs, isKept: false, isAwaited: false };
  });
  const plan: NaivePlan = { placements: [], reasons: [], newHeads: [] };
  const waiting = { gpu: 0, cpu: 0 };
  const explained = new Set<string>();

  for (const job of queue) {
    const fitting =
      job.not_before !== null && job.not_before > now ? [] : lefts.filter(fits(job, isExternal(job.runner)));
    const best = fitting.filter((left) => hasRoom(left, job)).sort(preferred(job))[0];
    if (job.not_before !== null && job.not_before > now) {
      plan.reasons.push([job.id, backingOff(job.attempt, job.not_before)]);
    } else if (fitting.length === 0) {
      plan.reasons.push([job.id, problemOf(job, nodes)]);
    } else if (isExternal(job.runner)) {
      plan.placements.push([job.id, fitting[0]!.node.id, []]);
    } else if (best) {
      const taken = usable(best, job).slice(0, job.gpu);
      best.slots = best.slots.filter((slot) => !taken.includes(slot));
      if (job.gpu === 0) best.cpu--;
      plan.placements.push([job.id, best.node.id, taken.map(({ index }) => index)]);
    } else if (job.gpu === 0) {
      plan.reasons.push([job.id, waitingForCpu(waiting.cpu++)]);
    } else {
      const kind = JSON.stringify([job.gpu, job.runner, job.node_selector]);
      const troubled = explained.has(kind) ? [] : troublesOf(fitting, job);
      explained.add(kind);
      plan.reasons.push([job.id, waitingForGpus(job.gpu, waiting.gpu++, troubled, freest(fitting, job))]);
      const isHead = fitting.every(({ isAwaited }) => !isAwaited);
      for (const left of fitting) left.isAwaited = true;
      if (isHead && job.head_since === null) plan.newHeads.push(job.id);
      if (isHead && job.head_since !== null && now - job.head_since >= starvationAfterMs)
        fitting
          .filter(({ node }) => sound(node, job).length >= job.gpu)
          .toSorted((a, b) => usable(b, job).length - usable(a, job).length)
          .slice(0, 1)
          .forEach((left) => (left.isKept = true));
    }
  }
  return plan;
}

const isOnline = ({ connected, status }: NodeCapacity) => connected && status !== 'OFFLINE';
const isOpen = (node: NodeCapacity) => isOnline(node) && node.status === 'ONLINE';
const canRun =
  ({ runner }: QueueItem) =>
  ({ runners }: NodeCapacity) =>
    runners.some(({ name, available }) => name === runner && available);
const matches =
  ({ node_selector }: QueueItem) =>
  ({ labels, slots }: NodeCapacity) =>
    Object.entries(node_selector).every(([label, value]) =>
      label === 'gpu_model' ? slots.some(({ model }) => model === value) : labels[label] === value,
    );
const isWanted =
  ({ node_selector: { gpu_model } }: QueueItem) =>
  ({ model }: { model: string }) =>
    gpu_model === undefined || model === gpu_model;
const fits =
  (job: QueueItem, isExternal: boolean) =>
  ({ node }: Left) =>
    isOpen(node) &&
    matches(job)(node) &&
    canRun(job)(node) &&
    (isExternal ||
      (job.gpu === 0 ? node.max_cpu_jobs > 0 : node.slots.filter(isWanted(job)).length >= job.gpu));
const sound = ({ slots }: NodeCapacity, job: QueueItem) =>
  slots.filter(isWanted(job)).filter(({ trouble }) => trouble === null);
const troublesOf = (lefts: readonly Left[], job: QueueItem) =>
  ['unhealthy', 'quarantined', 'foreign'].flatMap((state) =>
    lefts.flatMap(({ node }) =>
      node.slots
        .filter(isWanted(job))
        .filter(({ free, health }) => free && health === state)
        .map(({ index, trouble }) => `GPU ${index} of ${node.name} ${trouble}`),
    ),
  );
const freest = (lefts: readonly Left[], job: QueueItem) => {
  const [most] = lefts.toSorted((a, b) => usable(b, job).length - usable(a, job).length);
  return {
    node: most!.node.name,
    free: usable(most!, job).length,
    of: most!.node.slots.filter(isWanted(job)).length,
  };
};
const usable = ({ slots }: Left, job: QueueItem) => slots.filter(isWanted(job));
const hasRoom = (left: Left, job: QueueItem) =>
  job.gpu === 0 ? left.cpu > 0 : !left.isKept && usable(left, job).length >= job.gpu;
/** cpu-only jobs are spread, GPU jobs packed. */
const preferred = (job: QueueItem) => (a: Left, b: Left) =>
  Number(isPreferred(job, b)) - Number(isPreferred(job, a)) ||
  (job.gpu === 0 ? b.cpu - a.cpu : usable(a, job).length - usable(b, job).length);
const isPreferred = (job: QueueItem, { node }: Left) => node.id === job.preferred_node_id;

function problemOf(job: QueueItem, nodes: readonly NodeCapacity[]): string {
  const matching = nodes.filter(matches(job));
  const online = matching.filter(isOnline);
  const open = matching.filter(isOpen);
  const able = open.filter(canRun(job));
  if (!nodes.some(isOnline)) return sentence.noneOnline(nodes);
  if (online.length === 0) return sentence.noneMatches(job, matching);
  if (open.length === 0) return sentence.allDraining(online);
  if (able.length === 0) return sentence.noneRuns(job.runner, open);
  const counts = able.map(({ slots }) => slots.filter(isWanted(job)).length);
  const unable = open.filter(
    (node) =>
      !canRun(job)(node) &&
      (job.gpu === 0 ? node.max_cpu_jobs > 0 : node.slots.filter(isWanted(job)).length >= job.gpu),
  );
  return sentence.noneLargeEnough(job, Math.max(...counts), unable);
}
