import { DispatchFailed, toReason, type Run, type RunContext } from '@svc/agent';
import { unlessMissing } from '@svc/agent/durable-file';
import { within } from '@svc/agent/within';
import type { Exit } from '@svc/contract';
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerRun, type ContainerState } from './container-run.js';
import type { LogMark } from './container-log.js';
import { withFix } from './engine-reasons.js';
import { isDisconnect, toEngineReason, type Engine } from './engine.js';
import { EngineWatch } from './engine-watch.js';
import { findProgramTrouble } from './find-program.js';
import type { Prepared } from './prepare.js';
import type { StrayContainers } from './stray-containers.js';

/** The init passes on a signal to the process group of the command, in place of its first process alone. */
const SIGNALS_TO_GROUP = 'TINI_KILL_PROCESS_GROUP=1';
const RETRY_MS = 500;
/** To create or start a container takes seconds, or minutes on a slow disk. */
const ANSWER_MS = 120_000;
const FIRST_WORD_MS = 3000;
const CONFLICT = 409;

/** Brings what a container needs to the host, its image too, and says what the engine is to create. May be asked again. */
export type Prepare = () => Promise<Prepared>;

type Context = RunContext<ContainerState>;

/**
 * Starts a new container. Rejects with `DispatchFailed`, and leaves none behind, when it cannot be started. An engine that goes away is waited for; the
 * attempt is lost when it stays away. Must hold: once the start was asked for, only what the engine says of the container tells whether it runs.
 */
export async function startContainer(
  engine: Engine,
  strays: StrayContainers,
  ctx: Context,
  prepare: Prepare,
): Promise<Run> {
  const watch = new EngineWatch(engine, ctx);
  let prepared: Prepared | null = null;
  let mayExist = false;
  try {
    const ask = <T>(question: () => Promise<T>) => askPatiently(question, watch);
    prepared = await ask(() => abandonable(prepare(), watch.signal));
    const { options } = prepared;
    const engine_life = await ask(() => answered(engine.life()));
    const name = `svc-${ctx.job_id}-${ctx.attempt}-${randomBytes(3).toString('hex')}`;
    const client = await engine.client();
    mayExist = true;
    const container = await ask(() => answered(create(client, options, name)));
    const trouble = await ask(() => answered(findProgramTrouble(container)));
    if (trouble !== null) throw new DispatchFailed(`${trouble} on ${ctx.node.name}`);
    // Must hold: no line for the log of the job is written here from now on, as its marks are taken.
    watch.close();
    const log = { stdout: await toMark(ctx.paths.stdout), stderr: await toMark(ctx.paths.stderr) };
    const state = { container_id: container.id, started_at: ctx.clock.now(), engine_life, log };
    await ctx.save(state);
    watch.signal.throwIfAborted();
    await begin(container, watch.signal);
    const run = new ContainerRun(engine, state, ctx);
    await within(run.begun, FIRST_WORD_MS);
    return run;
  } catch (error) {
    const dropped = mayExist ? strays.drop(ctx, ctx.node.id) : null;
    // Who stops an attempt does not wait for an engine that is away.
    if (!watch.signal.aborted) await dropped;
    if (watch.hasGivenUp) return lostRun(ctx, toReason(watch.signal.reason));
    if (isDisconnect(error)) return lostRun(ctx, toEngineReason(error, engine.socket));
    if (error instanceof DispatchFailed) throw error;
    throw new DispatchFailed(
      `its container cannot be started: ${withFix(toEngineReason(error, engine.socket))}`,
    );
  } finally {
    watch.close();
    await prepared?.release();
  }
}

/** Rejects only when the engine has refused. Otherwise the container may run, now or soon, whatever became of the answer. */
async function begin(container: Docker.Container, signal: AbortSignal): Promise<void> {
  const started = container.start();
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  started.catch(() => {});
  await within(Promise.race([started, aborted]), ANSWER_MS);
  await Promise.race([started, delay(0)]).catch((error: unknown) => {
    if (!isDisconnect(error)) throw error;
  });
}

/** Asks again when the connection to the engine fails: it must be right to ask twice. Rejects when the watch gives up. */
async function askPatiently<T>(question: () => Promise<T>, watch: EngineWatch): Promise<T> {
  const lastAt = performance.now() + ANSWER_MS;
  for (;;) {
    try {
      return await watch.guard(question());
    } catch (error) {
      if (!isDisconnect(error) || watch.signal.aborted || performance.now() > lastAt) throw error;
      watch.tell(error);
    }
    await delay(RETRY_MS, undefined, { signal: watch.signal, ref: false });
  }
}

/** The client never settles what the engine has begun to answer when it ended. */
async function answered<T>(asked: Promise<T>): Promise<T> {
  if (await within(asked, ANSWER_MS)) return asked;
  throw Object.assign(new Error('it does not answer in time'), { code: 'ETIMEDOUT' });
}

/** What comes after the start was given up is released. */
function abandonable(preparing: Promise<Prepared>, signal: AbortSignal): Promise<Prepared> {
  void preparing.then(
    (prepared) => (signal.aborted ? prepared.release() : undefined),
    () => {},
  );
  return preparing;
}

/** What an earlier question has created under this name, whose answer was lost, may be half of a container. */
async function create(
  client: Docker,
  options: Docker.ContainerCreateOptions,
  name: string,
): Promise<Docker.Container> {
  const _body = { ...options, Env: [...(options.Env ?? []), SIGNALS_TO_GROUP] };
  // Must hold: without `_query` and `_body` the client repeats all of it in the URL, which the engine may log, with the values of variables.
  const wanted = { _query: { name }, _body } as unknown as Docker.ContainerCreateOptions;
  try {
    return await client.createContainer(wanted);
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== CONFLICT) throw error;
    await client.getContainer(name).remove({ force: true, v: true });
    return client.createContainer(wanted);
  }
}

/** The file may hold lines of the start, as of the pull of an image. */
async function toMark(file: string): Promise<LogMark> {
  const first = (await stat(file).catch(unlessMissing))?.size ?? 0;
  return { time: null, offset: first, first };
}

/** Another attempt may succeed once the engine is back. */
function lostRun({ node, clock }: Context, reason: string): Run {
  const exit: Exit = { kind: 'lost', reason: `its container was not started on ${node.name}: ${reason}` };
  return { pid: null, startedAt: clock.now(), exit: Promise.resolve(exit), stop: async () => {} };
}
