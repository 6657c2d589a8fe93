import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { BootError, createAgentLog, keepHeapSmall, startAgent } from '@svc/agent';
import { loadAgentPlugins } from './agent-plugins.js';
import type { AgentCommandOptions } from './commands/agent.js';
import { Failure } from './failure.js';
import { stopSignal, notifyReady, untilAborted } from './lifetime.js';
import { note } from './output/print.js';
import { loadConnection } from './settings.js';

/** Runs the agent until it is told to stop; its jobs run on without it. */
export async function runAgent(options: AgentCommandOptions): Promise<void> {
  keepHeapSmall();
  const stop = stopSignal();
  const given = await readToken(options);
  const { url, token } = loadConnection(given === null ? options : { ...options, token: given });
  if (token === null) {
    throw new Failure(
      'the agent needs a token: svc token create --name agents --scope agent makes one; give it by --token-file FILE',
    );
  }
  // A token begins with its scope.
  if (token.startsWith('svc_write_'))
    note(
      'the agent runs with a token of write scope, which can do more than it needs: svc token create --name agents --scope agent makes one for it',
    );
  const log = createAgentLog({
    level: isUnderUp() ? 'warn' : 'info',
    write: (line) => process.stderr.write(line),
  });
  const plugins = await loadAgentPlugins(options.config);
  const agent = await startAgent({
    ...options,
    url,
    token,
    labels: options.label,
    disks: options.disk,
    spoolMaxBytes: toBytes(options.spoolMaxMb),
    replayBytesPerS: toBytes(options.replayMbPerS),
    plugins,
    log,
  }).catch((error: Error) => {
    throw error instanceof BootError ? new Failure(error.message, { cause: error }) : error;
  });
  void agent.ready.then(() => notifyReady({ nodeId: agent.nodeId, name: agent.name }));
  await untilAborted(stop);
  await agent.close();
  process.exit();
}

/** The token from --token-file or --token-stdin; null when neither is given. */
async function readToken({ tokenFile, tokenStdin }: AgentCommandOptions): Promise<string | null> {
  if (tokenFile === undefined && !tokenStdin) return null;
  const source = tokenFile ?? 'standard input';
  const content = tokenFile === undefined ? text(process.stdin) : readFile(tokenFile, 'utf8');
  const token = await content.catch((error: Error) => {
    throw new Failure(`the token cannot be read from ${source}: ${error.message}`, { cause: error });
  });
  return token.trim() || refuseEmpty(source);
}

function refuseEmpty(source: string): never {
  throw new Failure(`there is no token in ${source}`);
}

function toBytes(megabytes: number | undefined): number | undefined {
  return megabytes === undefined ? undefined : megabytes * 1024 * 1024;
}

/** Under `svc up` the terminal is shared with the server, and shows only warnings and errors. */
function isUnderUp(): boolean {
  return process.connected === true;
}
