import { posix } from 'node:path';
import { createClient, type Client } from '@svc/client';
import { routes } from '@svc/contract';
import type { Argument, Option } from 'commander';
import { loadProfiles } from '../profile-file.js';
import { loadConnection, type ConnectionOptions } from '../settings.js';

export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Somebody waits at the keyboard. */
const TIMEOUT_MS = 700;
const NEWEST = 30;
const SHOWN_OF_ID = 6;
/** What can be typed, and is no option. */
const TYPED = /^(?!-)\P{C}+$/u;

interface Named {
  readonly id: string;
  readonly name: string;
  readonly status?: string;
}

type Find = (client: Client) => Promise<readonly Candidate[]>;

const query = { limit: NEWEST };
const jobs: Find = async (client) => toReferences((await client.call(routes.listJobs, { query })).items);
const runs: Find = async (client) => toReferences((await client.call(routes.listRuns, { query })).items);
/** Of the newest run. */
const checkpoints: Find = async (client) => {
  const [run] = (await client.call(routes.listRuns, { query: { limit: 1 } })).items;
  if (!run) return [];
  const { items } = await client.call(routes.listRunCheckpoints, { params: { run_id: run.id }, query });
  return toReferences(items.map(({ id, path }) => ({ id, name: posix.basename(path) })));
};
const nodes: Find = async (client) => toReferences((await client.call(routes.listNodes, { query })).items);
const projects: Find = async (client) => toNames((await client.call(routes.listProjects, { query })).items);
const experiments: Find = async (client) =>
  toNames((await client.call(routes.listExperiments, { query })).items);

/** By the name of an argument, or of an option. */
const ON_SERVER: Readonly<Record<string, Find>> = {
  job: jobs,
  'job-or-run': jobs,
  jobs,
  run: runs,
  runs,
  records: runs,
  checkpoint: checkpoints,
  node: nodes,
  project: projects,
  experiment: experiments,
};
const OF_FILES = /[<[](file|dir|command)(\.\.\.)?[\]>]/;

/** What an argument, or the value of an option, may be. A server that does not answer at once has nothing to offer. */
export async function findValues(
  wanted: Argument | Option,
  connection: ConnectionOptions,
): Promise<readonly Candidate[] | 'files'> {
  const choices = choicesOf(wanted);
  if (choices) return choices.map((word) => ({ word, description: '' }));
  const isOption = 'flags' in wanted;
  const name = isOption ? wanted.attributeName() : wanted.name();
  if (name === 'profile') return toProfiles();
  const find = ON_SERVER[name];
  if (find) return ask(find, connection);
  return OF_FILES.test(isOption ? wanted.flags : `<${name}>`) ? 'files' : [];
}

/** The words that an option or an argument takes; undefined when it takes any. */
function choicesOf({ argChoices, parseArg }: Option | Argument): readonly string[] | undefined {
  return argChoices ?? (parseArg as { choices?: readonly string[] } | undefined)?.choices;
}

async function ask(find: Find, connection: ConnectionOptions): Promise<readonly Candidate[]> {
  try {
    return await find(createClient(loadConnection(connection), { timeoutMs: TIMEOUT_MS }));
  } catch {
    return [];
  }
}

function toProfiles(): Candidate[] {
  return [...loadProfiles().byName].map(([word, { url }]) => ({ word, description: url }));
}

/** The ends of ids, newest first, then the names, each once. */
function toReferences(items: readonly Named[]): Candidate[] {
  const ids = items.map(({ id, name, status }) => ({
    word: id.slice(-SHOWN_OF_ID),
    description: [name, status].filter(Boolean).join(' '),
  }));
  return [...ids, ...toNames(items)];
}

function toNames(items: readonly { readonly name: string }[]): Candidate[] {
  const names = new Set(items.map(({ name }) => name).filter((name) => TYPED.test(name)));
  return [...names].map((word) => ({ word, description: '' }));
}
