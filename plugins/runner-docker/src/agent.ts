import { attemptKey, defineAgentPlugin, type AgentPlugin, type RunnerAgent } from '@svc/agent';
import { within } from '@svc/agent/within';
import { ContainerRun, type ContainerState } from './agent/container-run.js';
import { startContainer } from './agent/container-start.js';
import { Engine } from './agent/engine.js';
import { toSettings, type DockerAgentOptions, type DockerSettings } from './agent/options.js';
import { prepareContainer } from './agent/prepare.js';
import { StrayContainers } from './agent/stray-containers.js';
import type { DockerPlan } from './spec.js';

export type { DockerAgentOptions } from './agent/options.js';

/** An agent that starts waits so long for what the engine says of a container. It waits longer for an engine that is away, and is not held up by it. */
const FIRST_WORD_MS = 3000;

/** The agent half: each attempt is a container, which outlives the agent. */
function dockerRunnerAgent(settings: DockerSettings): RunnerAgent<DockerPlan, ContainerState> {
  const engine = new Engine(settings.socket);
  const strays = new StrayContainers(engine);
  return {
    name: 'docker',
    stateVersion: 1,
    survivesReboot: true,
    async *fingerprint(signal) {
      for await (const probe of engine.probes(signal)) {
        if (probe.available) await strays.reapPending();
        yield probe;
      }
    },
    start(plan, ctx) {
      strays.keep(attemptKey(ctx));
      return startContainer(engine, ctx, (client) => prepareContainer(plan, ctx, settings, client));
    },
    async recover({ state }, ctx) {
      strays.keep(attemptKey(ctx));
      const run = new ContainerRun(engine, state, ctx);
      await within(run.begun, FIRST_WORD_MS);
      return run;
    },
    reap: (keep, nodeId) => strays.reap(keep, nodeId),
  };
}

/** Runs a job's command in a container of the engine of this host. Throws BootError for options that there are not. */
export default function runnerDocker(options: DockerAgentOptions = {}): AgentPlugin {
  const settings = toSettings(options);
  return defineAgentPlugin({
    name: 'runner-docker',
    setup(ctx) {
      ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(dockerRunnerAgent(settings) as RunnerAgent));
    },
  })();
}
