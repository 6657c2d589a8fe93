import type { Hello, Labels, RunnerProbe, SlotSpec, SystemFacts, Welcome } from '@svc/contract';
import { setMaxListeners } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { findJobUser, openPassage } from './attempts/job-user.js';
import { OldAttempts } from './attempts/old-attempts.js';
import { Supervisor } from './attempts/supervisor.js';
import { PROTOCOL, Session, SESSION_TIMING, type SessionTiming } from './connection/session.js';
import { readBootId } from './core/boot-id.js';
import { ensureDurableDir } from './core/durable-file.js';
import { createAgentLog, toReason, type AgentLog } from './core/log.js';
import { systemClock, type RunnerAgent, type JobUser } from './core/runner.js';
import { VERSION } from './core/version.js';
import { nvidiaSmi } from './host/gpu-nvidia.js';
import { ensureIdentity, saveIdentitySync, type Identity } from './host/identity.js';
import { virtualGpus, type GpuSource } from './host/slots.js';
import { lockStateDir, type StateDirLock } from './host/state-dir-lock.js';
import { loadSystemFacts } from './host/system-facts.js';
import { Telemetry } from './host/telemetry.js';
import { LogShipper } from './logs/log-shipper.js';
import { LogSpool } from './logs/log-spool.js';
import { SpoolShipper } from './spool/spool-shipper.js';

const HELLO_PATIENCE_MS = 3000;

export interface AgentOptions {
  /** The server's address, http or https. */
  url: string;
  /** A token of agent or write scope. */
  token: string;
  /** Left out: the name of the last start, at first the host's. */
  name?: string | undefined;
  /** Left out: ~/.svc. Must hold: one agent at a time works on it. */
  stateDir?: string | undefined;
  /** The user as whom jobs run, for an agent that is root. Left out: as the agent does. */
  runAs?: string | undefined;
  labels?: Labels | undefined;
  /** Left out: the number of logical CPUs. */
  maxCpuJobs?: number | undefined;
  /** So many slots that stand for no device, in place of the host's GPUs. */
  virtualGpus?: number | undefined;
  /** Where real GPUs come from; left out: nvidia-smi. */
  gpus?: GpuSource | undefined;
  runners: readonly RunnerAgent[];
  /** What the logs of all attempts may take on the disk. Left out: 1 GiB. */
  spoolMaxBytes?: number | undefined;
  /** What was logged without a connection is sent at so much at most. Left out: 32 MiB a second. */
  replayBytesPerS?: number | undefined;
  /** So long an attempt's files stay once the server has all of it. Left out: 7; 0: not at all. */
  keepAttemptsDays?: number | undefined;
  log?: AgentLog | undefined;
  timing?: Partial<SessionTiming> | undefined;
}

export interface Agent {
  readonly nodeId: string;
  readonly name: string;
  /** Resolves at the first welcome. */
  readonly ready: Promise<void>;
  /** Lets go of everything but the jobs: those run on, and the next agent on this state directory takes them up. */
  close(): Promise<void>;
}

/** What a node says of itself in every hello, but for its attempts. */
interface NodeFacts {
  readonly slots: SlotSpec[];
  readonly runners: RunnerProbe[];
  readonly system: SystemFacts;
  readonly bootId: string;
}

/**
 * Starts the agent of this host: takes up what an earlier one left, then keeps connected to the server. Resolves before there
 * is a connection. Rejects when the state directory cannot be used or another agent uses it.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  checkOptions(options);
  const stateDir = path.resolve(options.stateDir ?? path.join(os.homedir(), '.svc'));
  await ensureDurableDir(stateDir);
  const lock = await lockStateDir(stateDir);
  try {
    const jobUser = options.runAs === undefined ? null : await findJobUser(options.runAs);
    if (jobUser !== null) await openPassage(stateDir, jobUser);
    return await startLocked(options, stateDir, jobUser, lock);
  } catch (error) {
    await lock.unlock();
    throw error;
  }
}

async function startLocked(
  options: AgentOptions,
  stateDir: string,
  jobUser: JobUser | null,
  lock: StateDirLock,
): Promise<Agent> {
  const { url, token, runners, log = createAgentLog() } = options;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const clock = systemClock;
  let identity = await ensureIdentity(stateDir, options.name, os.hostname());
  const gpus = toGpuSource(options);
  const facts = await loadFacts(options, gpus, stateDir, log, closing.signal);
  const { promise: ready, resolve: resolveReady } = withResolvers();

  const session: Session = new Session({
    ...{ url, token, clock, log, timing: { ...SESSION_TIMING, ...options.timing } },
    prepare: () => supervisor.settle(HELLO_PATIENCE_MS),
    hello: () => ({ ...toHello(identity, facts, options), attempts: supervisor.reports() }),
    onWelcome(welcome) {
      keepSecret(welcome);
      telemetry.welcomed();
      log.info('connected', { url, node_id: welcome.node_id, server_version: welcome.server_version });
      supervisor.welcome(welcome);
      resolveReady();
    },
    onFrame(frame) {
      if (frame.type === 'node_metrics_ack') void telemetry.stored(frame);
      else supervisor.carryOut(frame);
    },
    onOffline() {
      logs.pause();
      spools.pause();
    },
  });
  const logs = new LogShipper(session, clock, log, options.replayBytesPerS);
  const spool = new LogSpool({ stateDir, maxBytes: options.spoolMaxBytes, logs, clock, log });
  const spools = new SpoolShipper(session, log);
  const supervisor = new Supervisor({
    ...{
      stateDir,
      clock,
      log,
      token,
      jobUser,
      runners,
      logs,
      spools,
      serverUrl: url,
      bootId: facts.bootId,
      signal: closing.signal,
    },
    ...{ nodeId: identity.node_id, nodeName: identity.name },
    send: (frame) => session.send(frame),
    isOnline: () => session.isOnline,
    onReleased: (dir) => oldAttempts.released(dir),
  });
  const oldAttempts: OldAttempts = new OldAttempts({
    ...{ jobsDir: path.join(stateDir, 'jobs'), keepDays: options.keepAttemptsDays, clock, log },
    isManaged: (key) => supervisor.isManaged(key),
  });

  const telemetry = new Telemetry({
    stateDir,
    log,
    gpus: facts.slots.length > 0 ? (gpus.meter?.(log) ?? null) : null,
    send: (frame) => session.send(frame),
    isOnline: () => session.isOnline,
  });

  /** Must hold: the secret is on the disk before we speak again, for the server takes that as the sign that we keep it. */
  function keepSecret({ node_secret }: Welcome): void {
    if (identity.node_secret === node_secret) return;
    const proven = { ...identity, node_secret };
    saveIdentitySync(stateDir, proven);
    identity = proven;
  }

  await supervisor.recover();
  oldAttempts.start();
  spool.start();
  session.start();
  telemetry.start();
  log.info('agent started', {
    node_id: identity.node_id,
    name: identity.name,
    slots: facts.slots.length,
    state_dir: stateDir,
  });

  let closed: Promise<void> | null = null;
  const close = () => (closed ??= letGo());
  void lock.lost.then(() => {
    log.error('the lock on the state directory was removed: the agent ends, its jobs go on', {
      state_dir: stateDir,
    });
    return close();
  });

  async function letGo(): Promise<void> {
    closing.abort();
    await telemetry.close();
    logs.close();
    await spool.close();
    await session.close();
    await spools.close();
    await supervisor.close();
    await oldAttempts.close();
    for (const runner of runners) await runner.close?.();
    await lock.unlock();
  }
  return { nodeId: identity.node_id, name: identity.name, ready, close };
}

function checkOptions({ url, token, spoolMaxBytes = 1, replayBytesPerS = 1 }: AgentOptions): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`"${url}" is not the address of a server`);
  if (spoolMaxBytes <= 0 || replayBytesPerS <= 0)
    throw new TypeError('the size of the log spool and the rate of its replay must be above 0');
  if (token === '') throw new TypeError('the agent needs a token of scope agent or write');
}

async function loadFacts(
  options: AgentOptions,
  gpus: GpuSource,
  stateDir: string,
  log: AgentLog,
  signal: AbortSignal,
): Promise<NodeFacts> {
  const [slots, runners, system] = await Promise.all([
    discoverSlots(gpus, log, signal),
    Promise.all(options.runners.map((runner) => probe(runner, signal))),
    loadSystemFacts(stateDir),
  ]);
  return { slots, runners, system, bootId: readBootId() };
}

function toGpuSource({ virtualGpus: count = 0, gpus }: AgentOptions): GpuSource {
  return count > 0 ? virtualGpus(count) : (gpus ?? nvidiaSmi());
}

/** A host whose GPUs cannot be told offers none, and still takes jobs without. */
async function discoverSlots(source: GpuSource, log: AgentLog, signal: AbortSignal): Promise<SlotSpec[]> {
  try {
    return await source.discover(signal);
  } catch (error) {
    log.error('the GPUs of this host cannot be told: it offers none', {
      source: source.name,
      reason: toReason(error),
    });
    return [];
  }
}

async function probe(runner: RunnerAgent, signal: AbortSignal): Promise<RunnerProbe> {
  try {
    return { name: runner.name, ...(await runner.probe(signal)) };
  } catch (error) {
    return { name: runner.name, available: false, reason: toReason(error), version: null };
  }
}

function toHello(identity: Identity, facts: NodeFacts, options: AgentOptions): Omit<Hello, 'attempts'> {
  return {
    type: 'hello',
    protocol: PROTOCOL,
    ...identity,
    hostname: os.hostname(),
    version: VERSION,
    boot_id: facts.bootId,
    labels: options.labels ?? {},
    slots: facts.slots,
    max_cpu_jobs: options.maxCpuJobs ?? os.cpus().length,
    runners: facts.runners,
    system: facts.system,
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
