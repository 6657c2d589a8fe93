import type { AttemptKey } from '@svc/contract';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog, startAgent, type Agent, type AgentOptions } from '../../src/index.js';
import { FakeServer, runnerPlugin, ScriptedRunner, TOKEN, until } from '../../testing/index.js';

/**
 * Timeouts for a loaded machine that may stall. A hello waits for its answer as long as any test takes: were it given up
 * and tried again, each time after a longer back-off, an agent would come back ever later the slower the machine is.
 */
const PATIENT = { greetingMs: 120_000, pingMs: 10_000, stableMs: 0 };
/** For what is about silence. */
export const QUICK = { greetingMs: 200, pingMs: 50, stableMs: 0 };

/** A server, a state directory, and agents with a scripted runner on it. */
export class Bench {
  readonly runner = new ScriptedRunner();
  readonly logged: string[] = [];
  readonly #agents: Agent[] = [];

  private constructor(
    public server: FakeServer,
    readonly stateDir: string,
  ) {}

  /** `stateDir`: a directory of its own when left out. */
  static async create(stateDir?: string): Promise<Bench> {
    const dir = stateDir ?? (await mkdtemp(path.join(os.tmpdir(), 'svc-agent-')));
    return new Bench(await FakeServer.listen(), dir);
  }

  /** An agent that may not be connected yet. */
  async start(overrides: Partial<AgentOptions> = {}): Promise<Agent> {
    const log = createAgentLog({ level: 'debug', write: (line) => this.logged.push(line) });
    const base = {
      url: this.server.url,
      token: TOKEN,
      stateDir: this.stateDir,
      name: 'node-1',
      plugins: [runnerPlugin(this.runner)],
    };
    const agent = await startAgent({ ...base, log, virtualGpus: 1, timing: PATIENT, ...overrides });
    this.#agents.push(agent);
    return agent;
  }

  async connect(overrides: Partial<AgentOptions> = {}): Promise<Agent> {
    const agent = await this.start(overrides);
    await agent.ready;
    return agent;
  }

  /** The server cuts its agents off and answers no hello; resolves when one waits for its answer. */
  async goAway(): Promise<void> {
    this.server.silent = true;
    this.server.cut();
    await until(() => this.server.isAwaited, 'a hello without an answer');
  }

  /** At once, for whoever waits. */
  comeBack(): void {
    this.server.answerHello();
  }

  /** As if the host had been rebooted since the attempt was started. */
  async pretendReboot({ job_id, attempt }: AttemptKey): Promise<void> {
    const file = path.join(this.stateDir, 'jobs', job_id, `attempt-${attempt}`, 'state.json');
    const state = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...state, boot_id: 'an-earlier-boot' }));
  }

  async closeAgents(): Promise<void> {
    await Promise.all(this.#agents.splice(0).map((agent) => agent.close()));
  }

  async close(): Promise<void> {
    await this.closeAgents();
    await this.server.close();
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 });
  }
}
