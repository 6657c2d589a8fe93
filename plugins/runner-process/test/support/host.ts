import { createAgentLog, startAgent, type Agent, type AgentOptions } from '@svc/agent';
import { FakeServer, TOKEN } from '@svc/agent/testing';
import type { AttemptKey } from '@svc/contract';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { agentPlugins } from './agent-plugins.js';
import { killLeftovers } from './kill-leftovers.js';

type DispatchExtras = Partial<Parameters<FakeServer['dispatch']>[0]>;

/** A host with one state directory, on which agents come and go, and the server they speak to. */
export class Host {
  agent: Agent | null = null;
  nodeId: string | null = null;
  #jobs = 0;

  private constructor(
    readonly server: FakeServer,
    readonly stateDir: string,
  ) {}

  static async create(): Promise<Host> {
    return new Host(await FakeServer.listen(), await mkdtemp(path.join(os.tmpdir(), 'svc-agent-')));
  }

  /** An agent in this process, connected. */
  async startAgent(overrides: Partial<AgentOptions> = {}): Promise<Agent> {
    const log = createAgentLog({ write: () => {} });
    const base = {
      url: this.server.url,
      token: TOKEN,
      stateDir: this.stateDir,
      virtualGpus: 2,
      name: 'node-1',
    };
    const agent = await startAgent({ ...base, plugins: agentPlugins(), log, ...overrides });
    this.agent = agent;
    this.nodeId = agent.nodeId;
    await agent.ready;
    return agent;
  }

  async closeAgent(): Promise<void> {
    await this.agent?.close();
    this.agent = null;
  }

  /** Dispatches a new job's first attempt. */
  run(command: readonly string[], extras: DispatchExtras = {}): AttemptKey {
    this.#jobs += 1;
    const key = { job_id: `job_${String(this.#jobs).padStart(26, '0')}`, attempt: 1 };
    this.server.dispatch({ ...key, ...extras, plan: { command } });
    return key;
  }

  sh(script: string, extras: DispatchExtras = {}): AttemptKey {
    return this.run(['sh', '-c', script], extras);
  }

  file(key: AttemptKey, name: string): string {
    return path.join(this.stateDir, 'jobs', key.job_id, `attempt-${key.attempt}`, name);
  }

  async json(key: AttemptKey, name: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(this.file(key, name), 'utf8')) as Record<string, unknown>;
  }

  /** Must hold: no process of any job is left behind by a test. */
  async close(): Promise<void> {
    await this.closeAgent();
    if (this.nodeId !== null) await killLeftovers(this.nodeId);
    await this.server.close();
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether a process with that pid runs; a zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  return stat !== null && !/\) [ZX] /.test(stat);
}
