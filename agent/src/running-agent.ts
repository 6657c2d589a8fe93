import type { Hello, ServerFrame, SystemFacts, Welcome } from '@svc/contract';
import { AGENT_PROTOCOL } from '@svc/contract/protocol';
import os from 'node:os';
import path from 'node:path';
import type { AgentOptions } from './agent-options.js';
import { AttemptPlugins } from './attempts/attempt-plugins.js';
import { Fingerprints } from './attempts/fingerprints.js';
import { OldAttempts } from './attempts/old-attempts.js';
import { Supervisor } from './attempts/supervisor.js';
import { Session, SESSION_TIMING, type SessionHandler } from './connection/session.js';
import type { AgentAround, AgentKernel } from './core/agent-kernel.js';
import { readBootId } from './core/boot-id.js';
import type { JobUser } from './core/runner.js';
import { VERSION } from './core/version.js';
import { saveIdentitySync, type Identity } from './host/identity.js';
import { HostSlots } from './host/slots.js';
import { loadSystemFacts } from './host/system-facts.js';
import { Telemetry } from './host/telemetry.js';
import { virtualGpus } from './host/virtual-gpus.js';
import { LogShipper } from './logs/log-shipper.js';
import { LogSpool } from './logs/log-spool.js';
import type { Channels } from './spool/channels.js';
import { SpoolShipper } from './spool/spool-shipper.js';

/** So long a hello waits for attempts that are being started. */
const HELLO_PATIENCE_MS = 3000;

export interface AgentParts extends AgentAround {
  readonly options: AgentOptions;
  readonly identity: Identity;
  /** As whom jobs run; null: as the agent does. */
  readonly jobUser: JobUser | null;
  readonly kernel: AgentKernel;
  readonly channels: Channels;
  readonly closing: AbortController;
}

/** The parts of an agent and how they hear of the connection. */
export class RunningAgent implements SessionHandler {
  /** Resolves at the first welcome. */
  readonly ready: Promise<void>;
  #resolveReady = () => {};
  readonly #parts: AgentParts;
  readonly #session: Session;
  readonly #logs: LogShipper;
  readonly #logSpool: LogSpool;
  readonly #spools: SpoolShipper;
  readonly #supervisor: Supervisor;
  readonly #oldAttempts: OldAttempts;
  readonly #telemetry: Telemetry;
  readonly #fingerprints: Fingerprints;
  readonly #bootId = readBootId();
  #identity: Identity;
  readonly #slots: HostSlots;
  #system: SystemFacts | null = null;

  constructor(parts: AgentParts) {
    const { options, stateDir, kernel, node, jobUser, log, clock, signal } = parts;
    const { url, token, spoolMaxBytes: maxBytes, replayBytesPerS, keepAttemptsDays: keepDays } = options;
    this.ready = new Promise((resolve) => (this.#resolveReady = resolve));
    this.#parts = parts;
    this.#identity = parts.identity;
    const timing = { ...SESSION_TIMING, ...options.timing };
    this.#session = new Session({ url, token, clock, log, timing }, this);
    const connection = {
      send: this.#session.send.bind(this.#session),
      isOnline: () => this.#session.isOnline,
    };
    const sources = options.virtualGpus ? [virtualGpus(options.virtualGpus)] : kernel.slotSources;
    this.#slots = new HostSlots(sources, log, () =>
      this.#session.send({ type: 'slots', slots: this.#slots.specs }),
    );
    this.#logs = new LogShipper(this.#session, clock, log, replayBytesPerS);
    this.#logSpool = new LogSpool({ stateDir, maxBytes, logs: this.#logs, clock, log });
    this.#spools = new SpoolShipper(this.#session, log);
    parts.channels.shipBy(this.#spools);
    this.#supervisor = new Supervisor({
      stateDir,
      clock,
      log,
      token,
      jobUser,
      node,
      signal,
      serverUrl: url,
      bootId: this.#bootId,
      logs: this.#logs,
      spools: this.#spools,
      ...connection,
      runners: kernel.runners,
      slots: () => this.#slots.all,
      plugins: new AttemptPlugins(kernel, log),
      onReleased: (dir) => this.#oldAttempts.released(dir),
    });
    this.#oldAttempts = new OldAttempts({
      jobsDir: path.join(stateDir, 'jobs'),
      keepDays,
      clock,
      log,
      isManaged: (key) => this.#supervisor.isManaged(key),
    });
    const collectors = kernel.collectors.filter((collector) => collector.of === 'host');
    const dirs = () => [...this.#supervisor.workingDirs(), ...(options.disks ?? [])];
    this.#telemetry = new Telemetry({ nodeId: node.id, stateDir, log, collectors, dirs, ...connection });
    this.#fingerprints = new Fingerprints(signal, log, () =>
      this.#session.send({ type: 'runners', runners: this.#fingerprints.probes }),
    );
  }

  /** Takes up what an earlier agent left, then connects. */
  async start(): Promise<void> {
    const { stateDir, kernel, node, log, signal } = this.#parts;
    [this.#system] = await Promise.all([
      loadSystemFacts(stateDir),
      this.#slots.discover(signal),
      this.#fingerprints.start([...kernel.runners.values()]),
    ]);
    await this.#supervisor.recover();
    this.#oldAttempts.start();
    this.#logSpool.start();
    this.#session.start();
    this.#telemetry.start(this.#slots.specs);
    const about = { node_id: node.id, name: node.name, slots: this.#slots.all.length, state_dir: stateDir };
    log.info('agent started', about);
  }

  async close(): Promise<void> {
    this.#parts.closing.abort();
    await this.#telemetry.close();
    this.#logs.close();
    await this.#logSpool.close();
    await this.#session.close();
    await this.#spools.close();
    await this.#supervisor.close();
    await this.#oldAttempts.close();
    await this.#parts.kernel.close();
    await this.#parts.channels.close();
  }

  prepare(): Promise<void> {
    return this.#supervisor.settle(HELLO_PATIENCE_MS);
  }

  hello(): Hello {
    const { labels = {}, maxCpuJobs = os.cpus().length } = this.#parts.options;
    return {
      type: 'hello',
      protocol: AGENT_PROTOCOL,
      ...this.#identity,
      hostname: os.hostname(),
      version: VERSION,
      boot_id: this.#bootId,
      labels,
      slots: this.#slots.specs,
      max_cpu_jobs: maxCpuJobs,
      runners: this.#fingerprints.probes,
      system: { ...(this.#system as SystemFacts), ...this.#slots.facts },
      attempts: this.#supervisor.reports(),
    };
  }

  onWelcome(welcome: Welcome): void {
    const { node_id, node_secret, server_version } = welcome;
    this.#keepSecret(node_secret);
    this.#telemetry.welcomed();
    this.#parts.channels.welcomed(welcome.channels ?? []);
    this.#parts.log.info('connected', { url: this.#parts.options.url, node_id, server_version });
    this.#supervisor.welcome(welcome);
    this.#resolveReady();
  }

  onFrame(frame: ServerFrame): void {
    if (frame.type === 'node_metrics_ack') void this.#telemetry.stored(frame);
    else this.#supervisor.carryOut(frame);
  }

  onOffline(): void {
    this.#logs.pause();
    this.#spools.pause();
  }

  /** Must hold: the secret is on the disk before we speak again, for the server takes that as the sign that we keep it. */
  #keepSecret(node_secret: string): void {
    if (this.#identity.node_secret === node_secret) return;
    const proven = { ...this.#identity, node_secret };
    saveIdentitySync(this.#parts.stateDir, proven);
    this.#identity = proven;
  }
}
