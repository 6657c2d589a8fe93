import type { Job, NodeRecord, routes, Run } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import { getJob } from './jobs.js';
import { listNodes } from './nodes.js';
import { getRun } from './runs.js';

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
/** The server finds jobs by their exact name alone: of the newest ones, parts of the name are found here. */
const NEWEST_JOBS = 200;
const MOST_RUNS = 20;
const ID = /^(job|run)_[0-9A-Z]{26}$/;

export interface Found {
  readonly jobs: readonly Job[];
  readonly runs: readonly Run[];
  readonly nodes: readonly NodeRecord[];
}

/** Finds jobs, runs and nodes by words of their name, or by their id. What is read for every text alike is read once. */
export class Search {
  #newest: Promise<[Job[], NodeRecord[]]> | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async find(text: string, signal: AbortSignal): Promise<Found> {
    const id = ID.exec(text.trim());
    if (id) return this.#findById(id[0], signal);
    const [[newest, nodes], named, runs] = await Promise.all([
      this.#readNewest(),
      this.#readJobs({ name: text, limit: 1 }, signal),
      this.#readRuns(text, signal),
    ]);
    const jobs = newest.filter(({ name }) => hasWords(name, text));
    return {
      jobs: [...named.filter(({ id }) => !jobs.some((job) => job.id === id)), ...jobs],
      runs,
      nodes: nodes.filter(({ name, hostname }) => hasWords(`${name} ${hostname}`, text)),
    };
  }

  async #findById(id: string, signal: AbortSignal): Promise<Found> {
    const found: Found = { jobs: [], runs: [], nodes: [] };
    if (id.startsWith('job_')) return { ...found, jobs: [await getJob(this.#api, id, signal)] };
    return { ...found, runs: [await getRun(this.#api, id, signal)] };
  }

  #readNewest(): Promise<[Job[], NodeRecord[]]> {
    this.#newest ??= Promise.all([this.#readJobs({ limit: NEWEST_JOBS }), listNodes(this.#api)]);
    this.#newest.catch(() => (this.#newest = null));
    return this.#newest;
  }

  async #readJobs(query: { name?: string; limit: number }, signal?: AbortSignal): Promise<Job[]> {
    return (await this.#api.call(JOBS, { query, signal })).items;
  }

  async #readRuns(q: string, signal: AbortSignal): Promise<Run[]> {
    return (await this.#api.call(RUNS, { query: { q, limit: MOST_RUNS }, signal })).items;
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
