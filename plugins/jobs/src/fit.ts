import type { NodeCapacity } from '@svc/plugin-nodes';
import * as sentence from './fit-problem.js';
import { getOrAdd } from './get-or-add.js';
import { indicesOf, intersect, isEmpty, toNodeSet, type NodeSet } from './node-set.js';
import type { QueueItem } from './plan-pass.js';

export type Wants = Pick<QueueItem, 'gpu' | 'runner' | 'node_selector'>;

export interface Fit {
  /** Those that could run the job if they were empty, in order. One list for equal ones. */
  readonly nodes: readonly NodeCapacity[];
  /** Only slots of this model count; null: all do. */
  readonly gpuModel: string | null;
  /** Why no node fits; null when one does. */
  readonly problem: string | null;
}

/** This one label is not the node's own: it is what its slots are. */
const GPU_MODEL = 'gpu_model';

/**
 * The nodes of one pass, made ready to be asked for many kinds of jobs: which could ever run such a job as things are, or the
 * first thing that stands in the way.
 */
export class Cluster {
  readonly #all: NodeSet;
  readonly #none: NodeSet;
  readonly #online: NodeSet;
  readonly #open: NodeSet;
  readonly #takingCpuJobs: NodeSet;
  readonly #labelled: ReadonlyMap<string, NodeSet>;
  readonly #able = new Map<string, NodeSet>();
  readonly #large = new Map<string, NodeSet>();
  readonly #lists = new Map<string, readonly NodeCapacity[]>();

  constructor(private readonly nodes: readonly NodeCapacity[]) {
    this.#all = this.#where(() => true);
    this.#none = this.#where(() => false);
    this.#online = this.#where(({ connected, status }) => connected && status !== 'OFFLINE');
    this.#open = this.#where(({ status }) => status !== 'DRAINING');
    this.#takingCpuJobs = this.#where(({ max_cpu_jobs }) => max_cpu_jobs > 0);
    this.#labelled = this.#byLabel();
  }

  fit(job: Wants): Fit {
    const gpuModel = job.node_selector[GPU_MODEL] ?? null;
    const problem = (text: string): Fit => ({ nodes: [], gpuModel, problem: text });
    if (isEmpty(this.#online)) return problem(sentence.noneOnline(this.nodes));

    const selected = this.#select(job.node_selector);
    const matching = intersect(selected, this.#online);
    if (isEmpty(matching)) return problem(sentence.noneMatches(job, this.#list(selected)));

    const open = intersect(matching, this.#open);
    if (isEmpty(open)) return problem(sentence.allDraining(this.#list(matching)));

    const able = intersect(open, this.#ableTo(job.runner));
    if (isEmpty(able)) return problem(sentence.noneRuns(job.runner, this.#list(open)));

    const fitting = intersect(able, job.gpu === 0 ? this.#takingCpuJobs : this.#with(job.gpu, gpuModel));
    if (!isEmpty(fitting)) return { nodes: this.#list(fitting), gpuModel, problem: null };
    const slots = this.#list(able).map((node) => countSlots(node, gpuModel));
    return problem(sentence.noneLargeEnough(job, Math.max(...slots)));
  }

  #where(holds: (node: NodeCapacity) => boolean): NodeSet {
    return toNodeSet(this.nodes.length, (index) => holds(this.nodes[index]!));
  }

  #byLabel(): ReadonlyMap<string, NodeSet> {
    const members = new Map<string, Set<number>>();
    const add = (label: string, value: string, index: number) =>
      getOrAdd(members, toLabelKey(label, value), () => new Set()).add(index);
    for (const [index, { labels, slots }] of this.nodes.entries()) {
      for (const [label, value] of Object.entries(labels)) if (label !== GPU_MODEL) add(label, value, index);
      for (const { model } of slots) add(GPU_MODEL, model, index);
    }
    return new Map(
      [...members].map(([key, indices]) => [
        key,
        toNodeSet(this.nodes.length, (index) => indices.has(index)),
      ]),
    );
  }

  #select(selector: Wants['node_selector']): NodeSet {
    let selected = this.#all;
    for (const label in selector) {
      const labelled = this.#labelled.get(toLabelKey(label, selector[label]!));
      selected = labelled ? intersect(selected, labelled) : this.#none;
    }
    return selected;
  }

  #ableTo(runner: string): NodeSet {
    return getOrAdd(this.#able, runner, () =>
      this.#where(({ runners }) => runners.some(({ name, available }) => name === runner && available)),
    );
  }

  #with(gpu: number, gpuModel: string | null): NodeSet {
    return getOrAdd(this.#large, `${gpu} ${gpuModel ?? ''}`, () =>
      this.#where((node) => countSlots(node, gpuModel) >= gpu),
    );
  }

  #list(set: NodeSet): readonly NodeCapacity[] {
    return getOrAdd(this.#lists, set.join(), () => indicesOf(set).map((index) => this.nodes[index]!));
  }
}

function toLabelKey(label: string, value: string): string {
  return `${label}\0${value}`;
}

function countSlots({ slots }: NodeCapacity, gpuModel: string | null): number {
  return gpuModel === null ? slots.length : slots.filter(({ model }) => model === gpuModel).length;
}
