import { DispatchFailed, type RunContext } from '@svc/agent';
import { unlessMissing } from '@svc/agent/durable-file';
import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { ContainerRun, type ContainerState } from './container-run.js';
import type { LogMark } from './container-log.js';
import { withFix } from './engine-reasons.js';
import { toEngineReason, type Engine } from './engine.js';
import { findProgramTrouble } from './find-program.js';

/** The init passes on a signal to the process group of the command, in place of its first process alone. */
const SIGNALS_TO_GROUP = 'TINI_KILL_PROCESS_GROUP=1';

/** Brings what a container needs to the host, its image too, and says what the engine is to create. */
export type Prepare = () => Promise<Docker.ContainerCreateOptions>;

/** Starts a new container. Rejects with `DispatchFailed`, and leaves none behind, when it cannot be started. */
export async function startContainer(
  engine: Engine,
  ctx: RunContext<ContainerState>,
  prepare: Prepare,
): Promise<ContainerRun> {
  const client = await engine.client();
  let container: Docker.Container | null = null;
  try {
    const options = await prepare();
    const engine_life = await engine.life();
    container = await create(client, options, ctx);
    const log = { stdout: await toMark(ctx.paths.stdout), stderr: await toMark(ctx.paths.stderr) };
    const state = { container_id: container.id, started_at: ctx.clock.now(), engine_life, log };
    await ctx.save(state);
    const trouble = await findProgramTrouble(container);
    if (trouble !== null) throw new DispatchFailed(`${trouble} on ${ctx.node.name}`);
    ctx.stopping.throwIfAborted();
    await container.start();
    const run = new ContainerRun(engine, state, ctx);
    await run.begun;
    return run;
  } catch (error) {
    await container?.remove({ force: true, v: true }).catch((reason: unknown) => {
      ctx.log.warn('a container cannot be removed now', { reason: toEngineReason(reason, engine.socket) });
    });
    if (error instanceof DispatchFailed) throw error;
    throw new DispatchFailed(
      `its container cannot be started: ${withFix(toEngineReason(error, engine.socket))}`,
    );
  }
}

/** The name is for people: what remains of an earlier life of the attempt has another. */
function create(
  client: Docker,
  options: Docker.ContainerCreateOptions,
  { job_id, attempt }: RunContext<ContainerState>,
): Promise<Docker.Container> {
  const name = `svc-${job_id}-${attempt}-${randomBytes(3).toString('hex')}`;
  const _body = { ...options, Env: [...(options.Env ?? []), SIGNALS_TO_GROUP] };
  // Must hold: without `_query` and `_body` the client repeats all of it in the URL, which the engine may log, with the values of variables.
  return client.createContainer({ _query: { name }, _body } as unknown as Docker.ContainerCreateOptions);
}

/** The file may hold lines of the start, as of the pull of an image. */
async function toMark(file: string): Promise<LogMark> {
  return { time: null, offset: (await stat(file).catch(unlessMissing))?.size ?? 0 };
}
