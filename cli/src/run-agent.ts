import { createAgentLog, keepHeapSmall, startAgent } from '@svc/agent';
import { processRunnerAgent } from '@svc/plugin-runner-process/agent';
import type { AgentCommandOptions } from './commands/agent.js';
import { Failure } from './failure.js';
import { stopSignal, tellReady, untilAborted } from './lifetime.js';
import { loadConnection } from './settings.js';

/** Runs the agent until it is told to stop; its jobs run on without it. */
export async function runAgent(options: AgentCommandOptions): Promise<void> {
  keepHeapSmall();
  const stop = stopSignal();
  const { url, token } = loadConnection(options);
  if (token === null) {
    throw new Failure(
      'the agent needs a token: svc token create --name agents --scope agent makes one; give it as SVC_TOKEN',
    );
  }
  const {
    name,
    stateDir,
    label: labels,
    maxCpuJobs,
    virtualGpus,
    spoolMaxMb,
    replayMbPerS,
    keepAttemptsDays,
  } = options;
  const log = createAgentLog({
    level: isUnderUp() ? 'warn' : 'info',
    write: (line) => process.stderr.write(line),
  });
  const runners = [processRunnerAgent()];
  const agent = await startAgent({
    url,
    token,
    name,
    stateDir,
    labels,
    maxCpuJobs,
    virtualGpus,
    spoolMaxBytes: toBytes(spoolMaxMb),
    replayBytesPerS: toBytes(replayMbPerS),
    keepAttemptsDays,
    runners,
    log,
  });
  void agent.ready.then(() => tellReady({ nodeId: agent.nodeId, name: agent.name }));
  await untilAborted(stop);
  await agent.close();
  process.exit();
}

function toBytes(megabytes: number | undefined): number | undefined {
  return megabytes === undefined ? undefined : megabytes * 1024 * 1024;
}

/** Its terminal is then shared with the server, and shows what goes wrong alone. */
function isUnderUp(): boolean {
  return process.connected === true;
}
