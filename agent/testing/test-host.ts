import type { AttemptKey } from '@svc/contract';
import { until } from '@svc/hooks/testing';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startAgent, type Agent } from '../src/agent.js';
import type { AgentOptions } from '../src/agent-options.js';
import { createAgentLog } from '../src/core/log.js';
import type { AgentConfig, AgentPlugin } from '../src/core/plugin.js';
import { AgentProcess } from './agent-process.js';
import { FakeServer, TOKEN } from './fake-server.js';
import { killProcessesOf } from './processes.js';

type DispatchExtras = Partial<Parameters<FakeServer['dispatch']>[0]>;

/** What the jobs of a host are run by. */
export interface TestHostOptions {
  /** A module as `svc.agent.config.ts`: its default export has the plugins of every agent of the host. */
  readonly config: URL;
  /** The name of the runner, as a job gives it. Left out: process. */
  readonly runner?: string;
  /** The plan that the server half of the runner makes of a command. Left out: `{ command }`. */
  plan?(command: readonly string[]): unknown;
}

/** A host with one state directory, on which agents come and go, and the server they speak to. */
export class TestHost {
  readonly server: FakeServer;
  readonly stateDir: string;
  /** What the agents in this process have logged. */
  readonly logged: string[] = [];
  nodeId: string | null = null;
  readonly #options: TestHostOptions;
  readonly #plugins: readonly AgentPlugin[];
  #agent: Agent | null = null;
  readonly #processes: AgentProcess[] = [];
  #jobs = 0;

  private constructor(
    server: FakeServer,
    stateDir: string,
    options: TestHostOptions,
    plugins: readonly AgentPlugin[],
  ) {
    this.server = server;
    this.stateDir = stateDir;
    this.#options = options;
    this.#plugins = plugins;
  }

  static async create(options: TestHostOptions): Promise<TestHost> {
    const { plugins } = ((await import(options.config.href)) as { default: AgentConfig }).default;
    const dir = await mkdtemp(path.join(os.tmpdir(), 'svc-agent-'));
    return new TestHost(await FakeServer.listen(), dir, options, plugins);
  }

  /** An agent in this process, connected. */
  async startAgent(overrides: Partial<AgentOptions> = {}): Promise<Agent> {
    const { url } = this.server;
    const log = createAgentLog({ level: 'debug', write: (line) => this.logged.push(line) });
    const base = { url, token: TOKEN, stateDir: this.stateDir, virtualGpus: 2, name: 'node-1', log };
    const agent = await startAgent({ ...base, plugins: this.#plugins, ...overrides });
    this.#agent = agent;
    this.nodeId = agent.nodeId;
    await agent.ready;
    return agent;
  }

  async closeAgent(): Promise<void> {
    await this.#agent?.close();
    this.#agent = null;
  }

  /** An agent in a process of its own, connected. */
  async spawnAgent(): Promise<AgentProcess> {
    const { welcomes } = this.server;
    const agent = new AgentProcess(this.#options.config, this.server.url, this.stateDir);
    this.#processes.push(agent);
    await until(() => this.server.welcomes > welcomes, 'the hello of the agent');
    this.nodeId = this.server.all('hello').at(-1)?.node_id ?? null;
    return agent;
  }

  /** Dispatches a new job's first attempt. */
  run(command: readonly string[], extras: DispatchExtras = {}): AttemptKey {
    const { runner = 'process', plan = (own) => ({ command: own }) } = this.#options;
    this.#jobs += 1;
    const key = { job_id: `job_${String(this.#jobs).padStart(26, '0')}`, attempt: 1 };
    this.server.dispatch({ ...key, runner, ...extras, plan: plan(command) });
    return key;
  }

  sh(script: string, extras: DispatchExtras = {}): AttemptKey {
    return this.run(['sh', '-c', script], extras);
  }

  /** A file of the attempt's directory. */
  file(key: AttemptKey, name: string): string {
    return path.join(this.stateDir, 'jobs', key.job_id, `attempt-${key.attempt}`, name);
  }

  async json(key: AttemptKey, name: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(this.file(key, name), 'utf8')) as Record<string, unknown>;
  }

  /** Must hold: no process of any job is left behind by a test. */
  async close(): Promise<void> {
    await this.closeAgent();
    for (const agent of this.#processes) await agent.end('SIGKILL');
    if (this.nodeId !== null) await killProcessesOf(this.nodeId);
    await this.server.close();
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 });
  }
}
