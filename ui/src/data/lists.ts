import type {
  Checkpoint,
  Evaluation,
  EventRecord,
  Experiment,
  Job,
  Project,
  routes,
  Run,
} from '@svc/contract';
import { endpoint, withoutEmpty, type Api } from './api.js';
import type { EventFilter } from './event-list.js';
import type { JobFilter } from './jobs.js';
import { keepNames } from './record-names.js';
import type { RunFilter } from './runs.js';

/** One answer of the server: items newest first. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** There are older ones. */
  readonly hasMore: boolean;
  /** The answer would have been too large: the server has cut it, and older items follow. */
  readonly isCut: boolean;
  /** Of all pages, where the server was asked for it. */
  readonly total?: number | undefined;
}

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
const EVENTS = endpoint<typeof routes.listEvents>('GET', '/events');
const CHECKPOINTS = endpoint<typeof routes.listCheckpoints>('GET', '/checkpoints');
const EVALUATIONS = endpoint<typeof routes.listEvaluations>('GET', '/evaluations');
const RUNS_OF_EXPERIMENT = endpoint<typeof routes.listExperimentRuns>(
  'GET',
  '/experiments/{experiment_id}/runs',
);
const PROJECTS = endpoint<typeof routes.listProjects>('GET', '/projects');
const EXPERIMENTS = endpoint<typeof routes.listExperiments>('GET', '/experiments');
const PAGE_SIZE = 200;

/** The jobs behind the last one, newest first; null: the newest. */
export async function readJobs(
  api: Api,
  filter: JobFilter,
  last: Job | null,
  signal: AbortSignal,
): Promise<ListPage<Job>> {
  const query = { ...withoutEmpty(filter), before: last?.created_at, limit: PAGE_SIZE };
  const { next_before, ...answer } = await api.call(JOBS, { query, signal });
  return { ...toPage(answer), hasMore: next_before !== null };
}

export async function readRuns(
  api: Api,
  filter: RunFilter,
  last: Run | null,
  signal: AbortSignal,
): Promise<ListPage<Run>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(RUNS, { query, signal }));
}

/** With `names` those of their jobs, runs and nodes are kept: see `nameOf`. */
export async function readEvents(
  api: Api,
  filter: EventFilter & { names?: true },
  last: EventRecord | null,
  signal: AbortSignal,
): Promise<ListPage<EventRecord>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  const { names, ...answer } = await api.call(EVENTS, { query, signal });
  keepNames(api, names);
  return toPage(answer);
}

export type CheckpointFilter = { [K in 'run_id' | 'experiment_id' | 'project_id' | 'q']: string | null };

export async function readCheckpoints(
  api: Api,
  filter: CheckpointFilter,
  last: Checkpoint | null,
  signal: AbortSignal,
): Promise<ListPage<Checkpoint>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(CHECKPOINTS, { query, signal }));
}

export type EvaluationFilter = {
  readonly run_id: string | null;
  readonly checkpoint_id: string | null;
  readonly status: Evaluation['status'] | null;
  readonly suite: string | null;
  /** Words of suite, dataset and its version. */
  readonly q: string | null;
};

export async function readEvaluations(
  api: Api,
  filter: EvaluationFilter,
  last: Evaluation | null,
  signal: AbortSignal,
): Promise<ListPage<Evaluation>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(EVALUATIONS, { query, signal }));
}

export async function readRunsOfExperiment(
  api: Api,
  experimentId: string,
  last: Run | null,
  signal: AbortSignal,
): Promise<ListPage<Run>> {
  const query = { before: last?.id, limit: PAGE_SIZE };
  return toPage(
    await api.call(RUNS_OF_EXPERIMENT, { params: { experiment_id: experimentId }, query, signal }),
  );
}

export async function readProjects(
  api: Api,
  last: Project | null,
  signal: AbortSignal,
): Promise<ListPage<Project>> {
  return toPage(await api.call(PROJECTS, { query: { before: last?.id, limit: PAGE_SIZE }, signal }));
}

export async function readExperiments(
  api: Api,
  projectId: string,
  last: Experiment | null,
  signal: AbortSignal,
): Promise<ListPage<Experiment>> {
  const query = { project_id: projectId, before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(EXPERIMENTS, { query, signal }));
}

/** A full page may be the last one: then the next one is empty. */
function toPage<T>(answer: { items: T[]; truncated?: boolean; total?: number }): ListPage<T> {
  const { items, truncated = false, total } = answer;
  const hasMore = truncated || items.length === PAGE_SIZE;
  return { items, hasMore, isCut: truncated, ...(total !== undefined && { total }) };
}
