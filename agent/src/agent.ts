import { systemClock } from '@svc/hooks';
import { setMaxListeners } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { checkOptions, type AgentOptions } from './agent-options.js';
import { findJobUser, openPassage } from './attempts/job-user.js';
import { createDownload } from './connection/download.js';
import { bootAgent } from './core/agent-kernel.js';
import { ensureDurableDir } from './core/durable-file.js';
import { createAgentLog } from './core/log.js';
import { ensureIdentity } from './host/identity.js';
import { lockStateDir, type StateDirLock } from './host/state-dir-lock.js';
import { Channels } from './spool/channels.js';
import { RunningAgent } from './running-agent.js';

export interface Agent {
  readonly nodeId: string;
  readonly name: string;
  /** Resolves at the first welcome. */
  readonly ready: Promise<void>;
  /** Lets go of everything but the jobs: those run on, and the next agent on this state directory takes them up. */
  close(): Promise<void>;
}

/**
 * Starts the agent of this host: takes up what an earlier one left, then keeps connected to the server. Resolves before there
 * is a connection. Rejects with BootError when the state directory cannot be used, another agent uses it, or a plugin cannot be set up.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  checkOptions(options);
  const stateDir = path.resolve(options.stateDir ?? path.join(os.homedir(), '.svc'));
  await ensureDurableDir(stateDir);
  const lock = await lockStateDir(stateDir);
  try {
    return await startLocked(options, stateDir, lock);
  } catch (error) {
    await lock.unlock();
    throw error;
  }
}

async function startLocked(options: AgentOptions, stateDir: string, lock: StateDirLock): Promise<Agent> {
  const { log = createAgentLog(), runAs } = options;
  const jobUser = runAs === undefined ? null : await findJobUser(runAs);
  if (jobUser !== null) await openPassage(stateDir, jobUser);
  const identity = await ensureIdentity(stateDir, options.name, os.hostname());
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const node = { id: identity.node_id, name: identity.name };
  const download = createDownload(options);
  const around = { node, log, clock: systemClock, signal: closing.signal, stateDir, download };
  const channels = new Channels(stateDir, log);
  const kernel = await bootAgent(options.plugins, around, (plugin, name) => channels.open(plugin, name));
  const agent = new RunningAgent({
    options,
    identity,
    jobUser,
    kernel,
    channels,
    closing,
    ...around,
  });
  try {
    await agent.start();
  } catch (error) {
    await agent.close();
    throw error;
  }

  let closed: Promise<void> | null = null;
  const close = () => (closed ??= agent.close().finally(() => lock.unlock()));
  void lock.lost.then(() => {
    log.error('the lock on the state directory was removed: the agent ends, its jobs go on', {
      state_dir: stateDir,
    });
    return close();
  });
  return { nodeId: node.id, name: node.name, ready: agent.ready, close };
}
