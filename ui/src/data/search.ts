import type { Job, NodeRecord, routes, Run } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import { listNodes } from './nodes.js';

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
const MOST_FOUND = 20;
/** As it stands in a log or an address. */
const ID = /\b(?:job|run|node)_[0-9A-Z]{26}\b/;

export interface Found {
  readonly jobs: readonly Job[];
  readonly runs: readonly Run[];
  readonly nodes: readonly NodeRecord[];
}

/** Finds jobs, runs and nodes by words of their name, or by their id, its beginning or its end. The nodes are read once. */
export class Search {
  #nodes: Promise<NodeRecord[]> | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async find(text: string, signal: AbortSignal): Promise<Found> {
    const words = ID.exec(text)?.[0] ?? text.trim();
    const [jobs, runs, nodes] = await Promise.all([
      findNamed(words, (query) => this.#api.call(JOBS, { query, signal })),
      findNamed(words, (query) => this.#api.call(RUNS, { query, signal })),
      this.#readNodes(),
    ]);
    return { jobs, runs, nodes: nodes.filter((node) => isNode(node, words)) };
  }

  #readNodes(): Promise<NodeRecord[]> {
    this.#nodes ??= listNodes(this.#api);
    this.#nodes.catch(() => (this.#nodes = null));
    return this.#nodes;
  }
}

/** The newest that fit, and those of exactly that name, before which there may be many newer ones. */
async function findNamed<T extends { readonly id: string }>(
  words: string,
  read: (query: { q?: string; name?: string; limit: number }) => Promise<{ items: readonly T[] }>,
): Promise<T[]> {
  const limit = MOST_FOUND;
  const answers = await Promise.all([read({ q: words, limit }), read({ name: words, limit })]);
  const found = answers.flatMap(({ items }) => items);
  return [...new Map(found.map((one) => [one.id, one])).values()];
}

/** Whether all words occur, whatever their case. */
export function hasWords(name: string, text: string): boolean {
  const lower = name.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

const ID_PART = /^[0-9A-Z]{6,26}$/;

function isNode({ id, name, hostname }: NodeRecord, words: string): boolean {
  const part = words.toUpperCase().replace(/^NODE_/, '');
  const isPart = ID_PART.test(part) && (id.startsWith(`node_${part}`) || id.endsWith(part));
  return isPart || hasWords(`${name} ${hostname}`, words);
}
