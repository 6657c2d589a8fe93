import { posix } from 'node:path';
import { routes, toId, type AnswerOf, type IdKind } from '@svc/contract';
import type { Client } from '@svc/client';
import { Failure } from '../failure.js';
import { toPlainText } from '../output/table.js';
import { cutToWidth } from '../output/text-width.js';

type JobPage = AnswerOf<typeof routes.listJobs>['body'];

interface Named {
  readonly id: string;
  readonly name: string;
}

/** How the records of one kind are looked for. */
interface Finder {
  readonly noun: string;
  readonly kind: IdKind;
  /** Which records the lists have, where that is not the newest ones. */
  readonly searched?: string;
  /** The newest of exactly that name, or of all. */
  newest(client: Client, name?: string): Promise<Named | undefined>;
  /** Newest first, one list after another. */
  lists(client: Client): AsyncIterable<readonly Named[]>;
  /** What else has a name that none of this kind has, as the end of a sentence. */
  elsewhere?(client: Client, name: string): Promise<string>;
}

const PAGE = 1000;
const MOST_PAGES = 5;
/** Of the ULID of an id. */
const PART = /^[0-9A-HJKMNP-TV-Z]{4,25}$/;
const TOO_SHORT = /^[0-9A-HJKMNP-TV-Z]{1,3}$/;
const SHOWN = 5;
const NAME_WIDTH = 60;
/** Checkpoints are listed by their run alone. */
const RUNS_OF_CHECKPOINTS = 50;

const JOBS: Finder = {
  noun: 'job',
  kind: 'job',
  newest: async (client, name) =>
    (await client.call(routes.listJobs, { query: { name, limit: 1 } })).items[0],
  async *lists(client) {
    let before: number | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const list: JobPage = await client.call(routes.listJobs, { query: { before, limit: PAGE } });
      yield list.items;
      before = list.next_before;
      if (before === null) return;
    }
  },
  async elsewhere(client, name) {
    const { items } = await client.call(routes.listRuns, { query: { name, limit: 1 } });
    const job = items[0]?.job_id ?? null;
    return job === null ? '' : `; a run has this name, and its job is ${job}`;
  },
};

const RUNS: Finder = {
  noun: 'run',
  kind: 'run',
  newest: async (client, name) =>
    (await client.call(routes.listRuns, { query: { name, limit: 1 } })).items[0],
  lists: (client) => listsOf((before) => client.call(routes.listRuns, { query: { before, limit: PAGE } })),
};

const PROJECTS: Finder = {
  noun: 'project',
  kind: 'project',
  newest: async (client, name) => (await allNamed(PROJECTS.lists(client), name))[0],
  lists: (client) =>
    listsOf((before) => client.call(routes.listProjects, { query: { before, limit: PAGE } })),
};

const toExperiments = (project_id: string | undefined): Finder => {
  const lists = (client: Client) =>
    listsOf((before) => client.call(routes.listExperiments, { query: { project_id, before, limit: PAGE } }));
  return {
    noun: 'experiment',
    kind: 'experiment',
    async newest(client, name) {
      const [found, other] = await allNamed(lists(client), name);
      if (other)
        throw new Failure(`several projects have an experiment "${name}": name the project with --project`);
      return found;
    },
    lists,
  };
};

const NODES: Finder = {
  noun: 'node',
  kind: 'node',
  newest: async (client, name) => (await listNodes(client)).find((node) => node.name === name),
  async *lists(client) {
    yield await listNodes(client);
  },
};

const CHECKPOINTS: Finder = {
  noun: 'checkpoint',
  kind: 'checkpoint',
  searched: ` of the newest ${RUNS_OF_CHECKPOINTS} runs`,
  async newest(client, name) {
    for await (const items of CHECKPOINTS.lists(client)) {
      const found = items.find((checkpoint) => name === undefined || checkpoint.name === name);
      if (found) return found;
    }
    return undefined;
  },
  async *lists(client) {
    const { items } = await client.call(routes.listRuns, { query: { limit: RUNS_OF_CHECKPOINTS } });
    for (const { id: run_id } of items) {
      const list = await client.call(routes.listRunCheckpoints, {
        params: { run_id },
        query: { limit: PAGE },
      });
      yield list.items.map(({ id, path }) => ({ id, name: posix.basename(path) }));
    }
  },
};

/** Of a list that goes on before its last id. */
async function* listsOf<T extends { readonly id: string }>(
  read: (before: string | undefined) => Promise<{ readonly items: readonly T[] }>,
): AsyncGenerator<readonly T[]> {
  let before: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items } = await read(before);
    yield items;
    before = items.at(-1)?.id;
    if (before === undefined) return;
  }
}

async function allNamed(
  lists: AsyncIterable<readonly Named[]>,
  name: string | undefined,
): Promise<readonly Named[]> {
  const found: Named[] = [];
  for await (const items of lists) found.push(...items.filter((item) => item.name === name));
  return found;
}

async function listNodes(client: Client): Promise<readonly Named[]> {
  return (await client.call(routes.listNodes, { query: { limit: PAGE } })).items;
}

/** For the help of an argument. */
export const NEEDED_JOB = 'id of a job, the beginning or end of one, or a name';
export const NEEDED_RUN = 'id of a run, the beginning or end of one, or a name';
/** For commands that take the newest without one. */
export const JOB_REFERENCE = `${NEEDED_JOB} (default: the newest)`;
export const RUN_REFERENCE = `${NEEDED_RUN} (default: the newest)`;
export const NODE_REFERENCE = 'name or id of a node, or the beginning or end of its id';

export const CHECKPOINT_REFERENCE =
  'id of a checkpoint, the beginning or end of one, or the last part of its path (the newest of that name)';

/** The id that the words on the command line mean: an id, the beginning or end of one, or the newest of a name. Left out: the newest. */
export const findJob = (client: Client, reference?: string) => find(JOBS, client, reference);
export const findRun = (client: Client, reference?: string) => find(RUNS, client, reference);
export const findCheckpoint = (client: Client, reference: string) => find(CHECKPOINTS, client, reference);
export const findNode = (client: Client, reference: string) => find(NODES, client, reference);
export const findProject = (client: Client, reference: string) => find(PROJECTS, client, reference);
export const findExperiment = (client: Client, reference: string, projectId: string | undefined) =>
  find(toExperiments(projectId), client, reference);

/** An event has no name: its id, or the beginning or end of it. */
export async function findEvent(client: Client, reference: string): Promise<string> {
  const id = toId('event', reference);
  if (id !== null) return id;
  const newest: Named[] = [];
  for await (const items of listsOf((before) =>
    client.call(routes.listEvents, { query: { before, limit: PAGE } }),
  ))
    newest.push(...items.map(({ id, title }) => ({ id, name: title })));
  return findIdByPart('event', reference, newest);
}

async function find(finder: Finder, client: Client, reference: string | undefined): Promise<string> {
  const id = reference === undefined ? null : toId(finder.kind, reference);
  if (id !== null) return id;
  const newest = await finder.newest(client, reference);
  if (newest) return newest.id;
  if (reference === undefined) throw new Failure(`there is no ${finder.noun} yet`);
  return findByPart(finder, client, reference);
}

async function findByPart(finder: Finder, client: Client, reference: string): Promise<string> {
  const { noun, lists } = finder;
  const part = toPart(reference);
  const elsewhere = async () => (await finder.elsewhere?.(client, reference)) ?? '';
  if (part === null) {
    const tooShort = TOO_SHORT.test(reference.slice(reference.indexOf('_') + 1).toUpperCase());
    const needed = tooShort ? '; of an id, at least 4 characters of its beginning or end are needed' : '';
    throw new Failure(`no ${noun} has the name "${reference}"${needed}${await elsewhere()}`);
  }
  const found: Named[] = [];
  let count = 0;
  for await (const items of lists(client)) {
    count += items.length;
    found.push(...items.filter(({ id }) => hasPart(id, part)));
  }
  const newest = count >= MOST_PAGES * PAGE ? ` of the newest ${count}` : '';
  const searched = finder.searched ?? newest;
  if (found.length === 0)
    throw new Failure(
      `no ${noun} has the name "${reference}", and none${searched} has an id that begins or ends so${await elsewhere()}`,
    );
  return requireOne(reference, found);
}

/** The id of the one item whose id begins or ends so. */
export function findIdByPart(noun: string, reference: string, items: readonly Named[]): string {
  const part = toPart(reference);
  const found = part === null ? [] : items.filter(({ id }) => hasPart(id, part));
  if (found.length === 0)
    throw new Failure(`no ${noun} has an id that is "${reference}" or begins or ends so`);
  return requireOne(reference, found);
}

function toPart(reference: string): string | null {
  const part = reference.slice(reference.indexOf('_') + 1).toUpperCase();
  return PART.test(part) ? part : null;
}

function requireOne(reference: string, found: readonly Named[]): string {
  const [only, ...others] = found;
  if (only && others.length === 0) return only.id;
  const shown = found
    .slice(0, SHOWN)
    .map(({ id, name }) => `${id} (${cutToWidth(toPlainText(name), NAME_WIDTH)})`);
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  throw new Failure(`"${reference}" is not unique, give more of the id: ${shown.join(', ')}${more}`);
}

function hasPart(id: string, part: string): boolean {
  const ulid = id.slice(id.indexOf('_') + 1);
  return ulid.endsWith(part) || ulid.startsWith(part);
}
