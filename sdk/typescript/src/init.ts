import { ApiError, createClient, endpoint, pause, retryDelayMs, type Connection } from '@svc/client';
import type { BodyOf, routes } from '@svc/contract';
import { maskSecrets } from '@svc/contract/protocol';
import os from 'node:os';
import { track } from './endings.js';
import { warnOnce } from './notices.js';
import { OfflineFolder, newLabel } from './offline-folder.js';
import type { SdkRecord } from './records.js';
import { ReportingRun, type Run } from './run.js';
import { loadSettings, type Settings } from './settings.js';
import { ServerSink, offlineSink, type Sink } from './sink.js';
import { Spool } from './spool.js';
import { shorten, toName, toObject } from './values.js';

const CREATE_RUN = endpoint<typeof routes.createRun>('POST', '/runs');
const TIMEOUT_MS = 10_000;
/** With a spool at hand there is no need to wait long for an answer, during which what is reported lies in memory alone. */
const SPOOLING_TIMEOUT_MS = 5_000;
const MAX_TAGS = 100;

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
}

type Draft = BodyOf<typeof routes.createRun>;

let hasAttached = false;

/**
 * Begins to report. In a job the first call of a process attaches to the job's run; a further call makes a further run of the job.
 * Elsewhere every call makes a run. Without a server the run is recorded in ./svc-offline/. Never rejects, and waits for the server only to
 * make a run, at most SVC_INIT_TIMEOUT_S seconds.
 */
export async function init(options: InitOptions = {}): Promise<Run> {
  const settings = loadSettings(process.env);
  if (settings.mode === 'disabled') return disabledRun();
  const run = await begin(settings, toDraft(options));
  track(run);
  return run;
}

async function begin(settings: Settings, draft: Draft): Promise<ReportingRun> {
  const runId = hasAttached ? null : settings.runId;
  if (runId !== null) hasAttached = true;
  const { mode, server } = settings;
  if (mode === 'offline') return recordOffline(settings, draft, runId, 'SVC_MODE=offline');
  if (server === null)
    return recordOffline(settings, draft, runId, 'no server runs on this host; SVC_URL names another');
  if (runId !== null) return attach(settings, server, draft, runId);
  try {
    const { id, name, ingest_token } = await create(settings, server, draft);
    const named = { ...draft, name };
    const sink = serverSink(settings, { ...server, token: ingest_token }, named, id);
    return newRun(settings, named, id, sink, { isAttached: false });
  } catch (error) {
    return recordOffline(settings, draft, null, `${server.url}: ${(error as Error).message}`);
  }
}

function attach(settings: Settings, server: Connection, draft: Draft, runId: string): ReportingRun {
  const { config, environment, max_steps } = draft;
  const body = {
    ...(config && { config }),
    ...(environment && { environment }),
    ...(max_steps !== undefined && { max_steps }),
  };
  const description: SdkRecord[] = settings.isSecondaryRank ? [] : [{ kind: 'update', body }];
  const sink = serverSink(settings, server, draft, runId);
  return newRun(settings, {}, runId, sink, { isAttached: true, description });
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

function serverSink(settings: Settings, server: Connection, draft: Draft, runId: string): Sink {
  const { spoolDir, spoolBytes } = settings;
  const spool = spoolDir === null ? null : new Spool(spoolDir, runId, spoolBytes);
  const timeoutMs = spool === null ? TIMEOUT_MS : SPOOLING_TIMEOUT_MS;
  const client = createClient(server, { timeoutMs });
  return new ServerSink(client, runId, new OfflineFolder(runId, toMetadata(settings, draft, runId)), spool);
}

function recordOffline(settings: Settings, draft: Draft, runId: string | null, reason: string): ReportingRun {
  const label = runId ?? newLabel(draft.name ?? null);
  const folder = new OfflineFolder(label, toMetadata(settings, draft, runId));
  folder.saveMetadata();
  warnOnce('offline', `recording offline in ${folder.path} (${reason})`);
  return newRun(settings, draft, runId, offlineSink(folder), { isAttached: runId !== null });
}

function newRun(
  { queuePoints, flushTimeoutMs }: Settings,
  { name }: Draft,
  id: string | null,
  sink: Sink,
  { isAttached, description = [] }: { isAttached: boolean; description?: readonly SdkRecord[] },
): ReportingRun {
  const facts = { id, name: name ?? null, isAttached, queuePoints, flushTimeoutMs };
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
  const names = { name: toName(name), project: toName(project), experiment: toName(experiment) };
  const isCount = Number.isSafeInteger(maxSteps) && (maxSteps ?? 0) >= 1;
  if (maxSteps !== undefined && !isCount)
    warnOnce('maxSteps', `maxSteps ${String(maxSteps)} is not a whole number of at least 1; it is left out`);
  const known = {
    ...names,
    config: config && toObject(config, 'the config'),
    environment: toEnvironment(),
    max_steps: isCount ? maxSteps : null,
    tags: tags && toTags(tags),
  };
  return Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== null && value !== undefined),
  );
}

function toTags(tags: readonly string[]): string[] {
  const all = tags.map((tag) => toName(tag, 100)).filter((tag) => tag !== null);
  return [...new Set(all)].slice(0, MAX_TAGS);
}

/** What it takes to tell later what ran, secrets masked. */
function toEnvironment(): Record<string, unknown> {
  return maskSecrets({
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    hostname: os.hostname(),
    command: [...process.argv].slice(0, 100).map((argument) => shorten(argument, 2000)),
    working_dir: process.cwd(),
    svc_sdk: 'typescript 0.1.0',
  });
}

/** Takes every call and does nothing. */
function disabledRun(): Run {
  return {
    id: null,
    name: null,
    isAttached: false,
    log: () => undefined,
    checkpoint: () => undefined,
    event: () => undefined,
    flush: () => Promise.resolve(true),
    finish: () => Promise.resolve(),
  };
}
