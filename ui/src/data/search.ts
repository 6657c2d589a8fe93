import type { Job, NodeRecord, routes, Run } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import { getJob } from './jobs.js';
import { listNodes } from './nodes.js';
import { getRun } from './runs.js';

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
const MOST_FOUND = 20;
const ID = /^(job|run)_[0-9A-Z]{26}$/;

export interface Found {
  readonly jobs: readonly Job[];
  readonly runs: readonly Run[];
  readonly nodes: readonly NodeRecord[];
}

/** Finds jobs, runs and nodes by words of their name, or by their id. The nodes are read once. */
export class Search {
  #nodes: Promise<NodeRecord[]> | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async find(text: string, signal: AbortSignal): Promise<Found> {
    const id = ID.exec(text.trim());
    if (id) return this.#findById(id[0], signal);
    const input = { query: { q: text, limit: MOST_FOUND }, signal };
    const [jobs, runs, nodes] = await Promise.all([
      this.#api.call(JOBS, input),
      this.#api.call(RUNS, input),
      this.#readNodes(),
    ]);
    return {
      jobs: jobs.items,
      runs: runs.items,
      nodes: nodes.filter(({ name, hostname }) => hasWords(`${name} ${hostname}`, text)),
    };
  }

  async #findById(id: string, signal: AbortSignal): Promise<Found> {
    const found: Found = { jobs: [], runs: [], nodes: [] };
    if (id.startsWith('job_')) return { ...found, jobs: [await getJob(this.#api, id, signal)] };
    return { ...found, runs: [await getRun(this.#api, id, signal)] };
  }

  #readNodes(): Promise<NodeRecord[]> {
    this.#nodes ??= listNodes(this.#api);
    this.#nodes.catch(() => (this.#nodes = null));
    return this.#nodes;
  }
}

/** Whether all words occur, whatever their case. */
export function hasWords(name: string, text: string): boolean {
  const lower = name.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
