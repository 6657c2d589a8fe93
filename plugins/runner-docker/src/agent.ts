import { attemptKey, defineAgentPlugin, type AgentPlugin, type RunnerAgent } from '@svc/agent';
import { within } from '@svc/agent/within';
import path from 'node:path';
import { ContainerRun, type ContainerState } from './agent/container-run.js';
import { startContainer } from './agent/container-start.js';
import { Engine } from './agent/engine.js';
import { MountHolder } from './agent/held-mounts.js';
import { Images } from './agent/image.js';
import { toSettings, type DockerAgentOptions } from './agent/options.js';
import { prepareContainer, type ContainerHost } from './agent/prepare.js';
import { Relays } from './agent/server-relay.js';
import { StrayContainers } from './agent/stray-containers.js';
import type { DockerPlan } from './spec.js';

export type { DockerAgentOptions } from './agent/options.js';

/** An agent that starts waits so long for what the engine says of a container. It waits longer for an engine that is away, and is not held up by it. */
const FIRST_WORD_MS = 3000;

/** The agent half: each attempt is a container, which outlives the agent. */
function dockerRunnerAgent(host: ContainerHost, engine: Engine): RunnerAgent<DockerPlan, ContainerState> {
  const strays = new StrayContainers(engine);
  return {
    name: 'docker',
    stateVersion: 1,
    survivesReboot: true,
    async *fingerprint(signal) {
      for await (const probe of engine.probes(signal)) {
        if (probe.available) await within(strays.reapPending(), FIRST_WORD_MS);
        yield probe;
      }
    },
    start(plan, ctx) {
      strays.keep(attemptKey(ctx));
      return startContainer(engine, strays, ctx, () => prepareContainer(plan, ctx, host));
    },
    async recover({ state }, ctx) {
      strays.keep(attemptKey(ctx));
      const run = new ContainerRun(engine, state, ctx);
      await within(run.begun, FIRST_WORD_MS);
      return run;
    },
    mounts: ({ mounts }) => mounts,
    reap: (keep, nodeId) => strays.reap(keep, nodeId),
  };
}

/** Runs a job's command in a container of the engine of this host. Throws BootError for options that there are not. */
export default function runnerDocker(options: DockerAgentOptions = {}): AgentPlugin {
  const settings = toSettings(options);
  return defineAgentPlugin({
    name: 'runner-docker',
    async setup(ctx) {
      const engine = new Engine(settings.socket);
      const client = () => engine.client();
      const relays = new Relays({ client, directory: path.join(ctx.stateDir, ctx.name), log: ctx.log });
      ctx.onClose(() => relays.close());
      await relays.restore();
      const holder =
        process.getuid?.() === 0 ? new MountHolder(path.join(ctx.stateDir, ctx.name, 'mounts')) : null;
      await holder?.restore();
      ctx.onClose(async () => holder?.close());
      const host = { engine, settings, images: new Images(client), relays, holder };
      ctx.hooks.runners.tap(ctx.name, (runners) =>
        runners.add(dockerRunnerAgent(host, engine) as RunnerAgent),
      );
    },
  })();
}
