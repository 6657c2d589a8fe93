import type { NodeCapacity } from '@svc/plugin-nodes';
import * as sentence from './fit-problem.js';
import { getOrAdd } from './get-or-add.js';
import { indicesOf, NodeSets, type NodeSet } from './node-set.js';
import type { IsExternal, Wants } from './queue-item.js';

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
  readonly #sets: NodeSets;
  readonly #all: NodeSet;
  readonly #none: NodeSet;
  readonly #online: NodeSet;
  readonly #open: NodeSet;
  /** By label, then value. */
  readonly #labelled: ReadonlyMap<string, ReadonlyMap<string, NodeSet>>;
  readonly #able = new Map<string, NodeSet>();
  readonly #usable = new Map<string, NodeSet>();
  readonly #lists = new Map<NodeSet, readonly NodeCapacity[]>();

  constructor(
    private readonly nodes: readonly NodeCapacity[],
    private readonly isExternal: IsExternal,
  ) {
    this.#sets = new NodeSets(nodes.length);
    this.#all = this.#where(() => true);
    this.#none = this.#where(() => false);
    this.#online = this.#where(({ connected, status }) => connected && status !== 'OFFLINE');
    this.#open = this.#sets.intersect(
      this.#online,
      this.#where(({ status }) => status !== 'DRAINING'),
    );
    this.#labelled = this.#byLabel();
  }

  fit(job: Wants): Fit {
    const gpuModel = job.node_selector[GPU_MODEL] ?? null;
    const selected = this.#select(job.node_selector);
    const nodes = this.#list(this.#sets.intersect(selected, this.#usableBy(job, gpuModel)));
    return { nodes, gpuModel, problem: nodes.length > 0 ? null : this.#explain(job, gpuModel, selected) };
  }

  /** The first thing that leaves none of the selected nodes. */
  #explain(job: Wants, gpuModel: string | null, selected: NodeSet): string {
    if (this.#online === this.#none) return sentence.noneOnline(this.nodes);

    const matching = this.#sets.intersect(selected, this.#online);
    if (matching === this.#none) return sentence.noneMatches(job, this.#list(selected));

    const open = this.#sets.intersect(matching, this.#open);
    if (open === this.#none) return sentence.allDraining(this.#list(matching));

    const able = this.#sets.intersect(open, this.#ableTo(job.runner));
    if (able === this.#none) return sentence.noneRuns(job.runner, this.#list(open));

    const slots = this.#list(able).map((node) => countSlots(node, gpuModel));
    return sentence.noneLargeEnough(job, Math.max(...slots));
  }

  #where(holds: (node: NodeCapacity) => boolean): NodeSet {
    return this.#sets.where((index) => holds(this.nodes[index]!));
  }

  #byLabel(): ReadonlyMap<string, ReadonlyMap<string, NodeSet>> {
    const members = new Map<string, Map<string, Set<number>>>();
    const add = (label: string, value: string, index: number) => {
      const ofLabel = getOrAdd(members, label, () => new Map<string, Set<number>>());
      getOrAdd(ofLabel, value, () => new Set<number>()).add(index);
    };
    for (const [index, { labels, slots }] of this.nodes.entries()) {
      for (const [label, value] of Object.entries(labels)) if (label !== GPU_MODEL) add(label, value, index);
      for (const { model } of slots) add(GPU_MODEL, model, index);
    }
    const toSet = (indices: ReadonlySet<number>) => this.#sets.where((index) => indices.has(index));
    return mapValues(members, (ofLabel) => mapValues(ofLabel, toSet));
  }

  #select(selector: Wants['node_selector']): NodeSet {
    let selected = this.#all;
    for (const label in selector) {
      const labelled = this.#labelled.get(label)?.get(selector[label]!);
      if (!labelled) return this.#none;
      selected = this.#sets.intersect(selected, labelled);
    }
    return selected;
  }

  /** Those that could run such jobs, whatever the selection. */
  #usableBy({ gpu, runner }: Wants, gpuModel: string | null): NodeSet {
    return getOrAdd(this.#usable, `${gpu} ${runner} ${gpuModel ?? ''}`, () => {
      const isExternal = this.isExternal(runner);
      const isLarge = (node: NodeCapacity) =>
        isExternal || (gpu === 0 ? node.max_cpu_jobs > 0 : countSlots(node, gpuModel) >= gpu);
      return this.#sets.intersect(
        this.#sets.intersect(this.#open, this.#ableTo(runner)),
        this.#where(isLarge),
      );
    });
  }

  #ableTo(runner: string): NodeSet {
    return getOrAdd(this.#able, runner, () =>
      this.#where(({ runners }) => runners.some(({ name, available }) => name === runner && available)),
    );
  }

  #list(set: NodeSet): readonly NodeCapacity[] {
    return getOrAdd(this.#lists, set, () => indicesOf(set).map((index) => this.nodes[index]!));
  }
}

function mapValues<K, V, W>(map: ReadonlyMap<K, V>, toValue: (value: V) => W): ReadonlyMap<K, W> {
  return new Map([...map].map(([key, value]) => [key, toValue(value)]));
}

function countSlots({ slots }: NodeCapacity, gpuModel: string | null): number {
  return gpuModel === null ? slots.length : slots.filter(({ model }) => model === gpuModel).length;
}
