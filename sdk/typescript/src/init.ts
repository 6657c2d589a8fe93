import { ApiError, createClient, endpoint, pause, retryDelayMs, type Connection } from '@svc/client';
import type { BodyOf, routes } from '@svc/contract';
import { maskSecrets } from '@svc/contract/protocol';
import os from 'node:os';
import { begin as makeCurrent, findOpen } from './current.js';
import { track } from './endings.js';
import { workingDir } from './host-path.js';
import { tell, warnOnce } from './notices.js';
import { OfflineFolder, newLabel } from './offline-folder.js';
import type { SdkRecord } from './records.js';
import type { Run } from './run-interface.js';
import { ReportingRun } from './run.js';
import { loadSettings, type Settings } from './settings.js';
import { NO_SINK, ServerSink, offlineSink, type Sink } from './sink.js';
import { Spool } from './spool.js';
import { shorten, toName, toObject } from './values.js';

const CREATE_RUN = endpoint<typeof routes.createRun>('POST', '/runs');
const TIMEOUT_MS = 10_000;
/** With a spool at hand there is no need to wait long for an answer, during which what is reported lies in memory alone. */
const SPOOLING_TIMEOUT_MS = 5_000;
const MAX_TAGS = 100;
const REINITS = ['end', 'new'] as const;
/** The server takes a run outside a job for LOST after 10 minutes without a write or a sign of life. */
const SIGN_EVERY_MS = 30_000;

export interface InitOptions {
  /** Name or id; a new name is created. */
  readonly project?: string;
  /** Name or id within the project. */
  readonly experiment?: string;
  readonly name?: string;
  /** The hyperparameters. */
  readonly config?: object;
  /** How many steps are planned, for the display of progress. */
  readonly maxSteps?: number;
  /** Labels to find the run by. */
  readonly tags?: readonly string[];
  /** What becomes of the current run of this process: `end` (the default) ends it, `new` leaves it open beside this one. */
  readonly reinit?: (typeof REINITS)[number];
  /** Prints no link; left out, as SVC_QUIET says. */
  readonly quiet?: boolean;
  /**
   * Every process of a distributed training reports; left out, as SVC_ALL_RANKS says. Otherwise the first rank alone does, and the calls
   * of the others do nothing.
   */
  readonly allRanks?: boolean;
  /** Left out, as SVC_MODE says. */
  readonly mode?: Settings['mode'];
}

type Draft = BodyOf<typeof routes.createRun>;

let hasAttached = false;

/**
 * Begins to report, and prints the link of the run. In a job the first call of a process attaches to the job's run, and gives it what
 * the submit left open of name, project, experiment and tags; a further call makes a further run of the job. Elsewhere every call makes
 * a run. Without a server the run is recorded in ./svc-offline/. Never rejects because of the network, and waits for the server only to
 * make a run, at most SVC_INIT_TIMEOUT_S seconds, and to end the current one.
 */
export async function init(options: InitOptions = {}): Promise<Run> {
  const { reinit = 'end', quiet, config = {}, mode, allRanks } = options;
  if (!REINITS.includes(reinit))
    throw new RangeError(`reinit "${String(reinit)}" is not one of ${REINITS.join(', ')}`);
  if (reinit === 'end') await findOpen()?.end('clean');
  const settings = loadSettings(mode === undefined ? process.env : { ...process.env, SVC_MODE: mode });
  const isSilent = settings.isSecondaryRank && !(allRanks ?? settings.allRanks);
  const plan = { settings, config, draft: toDraft(options) };
  const reports = settings.mode !== 'disabled' && !isSilent;
  const run = reports ? await begin(plan) : newRun(plan, null, NO_SINK, { isDescribed: false });
  makeCurrent(run);
  if (reports) track(run);
  if (!(quiet ?? settings.isQuiet)) tellLink(run, settings);
  return run;
}

/** The first rank says it for all. */
function tellLink({ url, name, isAttached }: Run, { isSecondaryRank }: Settings): void {
  if (url !== null && !(isAttached && isSecondaryRank)) tell(`the run ${name ?? 'of this job'} is at ${url}`);
}

/** A run about to begin: `config` as it was given. */
interface Plan {
  readonly settings: Settings;
  readonly config: object;
  readonly draft: Draft;
}

async function begin(plan: Plan): Promise<ReportingRun> {
  const { settings, draft } = plan;
  const { mode, server } = settings;
  const runId = hasAttached ? null : settings.runId;
  if (runId !== null) hasAttached = true;
  if (mode === 'offline') return recordOffline(plan, runId, 'the mode is offline');
  if (server === null)
    return recordOffline(plan, runId, 'no server runs on this host; svc login or SVC_URL names another');
  if (runId !== null) return attach(plan, server, runId);
  try {
    const { id, name, ingest_token } = await create(settings, server, draft);
    if (typeof id !== 'string') throw new Error('what answers there is not svc');
    const named = { ...plan, draft: { ...draft, name } };
    return newRun(named, id, serverSink(named, { ...server, token: ingest_token }, id), { isOnline: true });
  } catch (error) {
    return recordOffline(plan, null, `${settings.consoleUrl}: ${(error as Error).message}`);
  }
}

function attach(plan: Plan, server: Connection, runId: string): ReportingRun {
  const { config, environment, max_steps, name, project, experiment, tags } = plan.draft;
  const fill = withoutUndefined({ name, project, experiment, tags });
  const bodies = [
    withoutUndefined({ config, environment, max_steps }),
    ...(Object.keys(fill).length > 0 ? [{ fill }] : []),
  ];
  const isDescribed = !plan.settings.isSecondaryRank;
  return newRun(plan, runId, serverSink(plan, server, runId), {
    isOnline: true,
    isAttached: true,
    isDescribed,
    description: isDescribed ? bodies.map((body) => ({ kind: 'update', body })) : [],
  });
}

/** Asks again only after an answer that says that no run was made, so that none is made twice. */
async function create(settings: Settings, server: Connection, draft: Draft) {
  const client = createClient(server);
  const { project: _project, experiment: _experiment, ...own } = draft;
  const body: Draft =
    settings.jobId === null ? { ...draft, source: 'sdk' } : { ...own, source: 'sdk', job_id: settings.jobId };
  const deadline = performance.now() + settings.initTimeoutMs;
  for (let tries = 0; ; tries += 1) {
    const leftMs = Math.max(100, Math.floor(deadline - performance.now()));
    try {
      return await client.call(CREATE_RUN, { body, timeoutMs: leftMs });
    } catch (error) {
      const isUnsure = !(error instanceof ApiError) || error.status < 400;
      const pauseMs = (error as ApiError).retryAfterMs ?? retryDelayMs(tries);
      if (isUnsure || error.isFinal || performance.now() + pauseMs > deadline) throw error;
      await pause(pauseMs);
    }
  }
}

function serverSink({ settings, draft }: Plan, server: Connection, runId: string): Sink {
  const { spoolDir, spoolBytes } = settings;
  const spool = spoolDir === null ? null : new Spool(spoolDir, runId, spoolBytes);
  const timeoutMs = spool === null ? TIMEOUT_MS : SPOOLING_TIMEOUT_MS;
  const client = createClient(server, { timeoutMs });
  return new ServerSink(client, runId, new OfflineFolder(runId, toMetadata(settings, draft, runId)), spool);
}

function recordOffline(plan: Plan, runId: string | null, reason: string): ReportingRun {
  const label = runId ?? newLabel(plan.draft.name ?? null);
  const folder = new OfflineFolder(label, toMetadata(plan.settings, plan.draft, runId));
  folder.saveMetadata();
  warnOnce('offline', `recording offline in ${folder.path} (${reason}); svc import brings it in`);
  return newRun(plan, runId, offlineSink(folder), { isAttached: runId !== null });
}

interface Kind {
  /** The server knows the run. */
  readonly isOnline?: boolean;
  readonly isAttached?: boolean;
  readonly isDescribed?: boolean;
  readonly description?: readonly SdkRecord[];
}

function newRun(
  { settings, draft, config }: Plan,
  id: string | null,
  sink: Sink,
  { isOnline = false, isAttached = false, isDescribed = true, description = [] }: Kind,
): ReportingRun {
  const { consoleUrl, queuePoints, flushTimeoutMs, jobId } = settings;
  const facts = {
    id,
    config,
    isAttached,
    isDescribed,
    queuePoints,
    flushTimeoutMs,
    name: draft.name ?? null,
    url: isOnline ? `${consoleUrl}/runs/${id}` : null,
    signEveryMs: isOnline && jobId === null ? SIGN_EVERY_MS : null,
  };
  return new ReportingRun(facts, sink, description);
}

function toMetadata({ jobId, attempt }: Settings, draft: Draft, runId: string | null) {
  const known = Object.entries({ run_id: runId, job_id: jobId, attempt }).filter(
    ([, value]) => value !== null,
  );
  return { ...Object.fromEntries(known), ...draft, created_at: Date.now() };
}

/** The fields of POST /runs that the caller and this host know. */
function toDraft({ project, experiment, name, config, maxSteps, tags }: InitOptions): Draft {
  const names = {
    name: toName(name) ?? undefined,
    project: toName(project) ?? undefined,
    experiment: toName(experiment) ?? undefined,
  };
  const isCount = Number.isSafeInteger(maxSteps) && (maxSteps ?? 0) >= 1;
  if (maxSteps !== undefined && !isCount)
    warnOnce('maxSteps', `maxSteps ${String(maxSteps)} is not a whole number of at least 1; it is left out`);
  const known = {
    ...names,
    config: (config && toObject(config, 'the config')) ?? undefined,
    environment: toEnvironment(),
    max_steps: isCount ? maxSteps : undefined,
    tags: tags && toTags(tags),
  };
  return withoutUndefined(known) as Draft;
}

/** JavaScript may give one text, or what is no list. */
function toTags(tags: readonly string[]): string[] {
  const given = typeof tags === 'string' ? [tags] : Symbol.iterator in Object(tags) ? [...tags] : [];
  const all = given.map((tag) => toName(tag, 100)).filter((tag) => tag !== null);
  return [...new Set(all)].slice(0, MAX_TAGS);
}

/** What it takes to tell later what ran, secrets masked. */
function toEnvironment(): Record<string, unknown> {
  return maskSecrets({
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    hostname: os.hostname(),
    command: [...process.argv].slice(0, 100).map((argument) => shorten(argument, 2000)),
    working_dir: workingDir(),
    svc_sdk: 'typescript 0.1.0',
  });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
