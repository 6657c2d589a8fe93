import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deeds, Disturbance } from './deeds.js';
import type { Program } from '../support/program.js';
import { laneOf, type Fault } from './schedule.js';
import type { AgentPlace, World } from './world.js';

/** Carries the faults out at their times. Resolves when the last is over; then nothing is left of them but their consequences. */
export async function carryOutFaults(
  world: World,
  faults: readonly Fault[],
  beganAt: number,
  deeds: Deeds,
): Promise<void> {
  const lanes = new Map<string, Fault[]>();
  for (const fault of faults) lanes.set(laneOf(fault), [...(lanes.get(laneOf(fault)) ?? []), fault]);
  await Promise.all([...lanes.values()].map((lane) => carryOutLane(world, lane, beganAt, deeds)));
}

async function carryOutLane(
  world: World,
  lane: readonly Fault[],
  beganAt: number,
  deeds: Deeds,
): Promise<void> {
  for (const fault of lane) {
    await delay(Math.max(0, beganAt + fault.atMs - Date.now()));
    await carryOut(world, fault, deeds);
  }
}

async function carryOut(world: World, fault: Fault, deeds: Deeds): Promise<void> {
  const disturb = async (kind: Disturbance['kind'], node: string | null, work: () => Promise<void>) => {
    const disturbance: Disturbance = { kind, node, from: Date.now(), to: null };
    deeds.disturbances.push(disturbance);
    await work();
    disturbance.to = Date.now();
  };
  switch (fault.kind) {
    case 'kill-server':
      return disturb('away', null, () => restartServer(world, 'SIGKILL', fault.forMs));
    case 'restart-server':
      return disturb('away', null, () => restartServer(world, 'SIGTERM', fault.forMs));
    case 'pause-server':
      return disturb('away', null, () => pause(world, world.server, fault.forMs));
    case 'kill-agent':
    case 'restart-agent': {
      const signal = fault.kind === 'kill-agent' ? 'SIGKILL' : 'SIGTERM';
      const { nodeId } = world.agents[fault.node]!;
      return disturb('agent-killed', nodeId, () => restartAgent(world, fault.node, signal, fault.forMs));
    }
    case 'pause-agent': {
      const { nodeId, program } = world.agents[fault.node]!;
      return disturb('away', nodeId, () => pause(world, program, fault.forMs));
    }
    case 'cut': {
      const { nodeId, proxy } = world.agents[fault.node]!;
      return disturb('away', nodeId, async () => {
        proxy.cut(fault.mode, fault.traffic);
        await delay(fault.forMs);
        proxy.heal();
      });
    }
    case 'fill-server-disk':
      return disturb('disk-full', null, () => fill(world, world.workplace.dataDir, fault.forMs));
    case 'fill-agent-disk': {
      const { nodeId, stateDir } = world.agents[fault.node]!;
      return disturb('disk-full', nodeId, () => fill(world, stateDir, fault.forMs));
    }
    case 'kill-shim':
    case 'kill-process':
      return killOne(world, fault.kind === 'kill-shim' ? 'shim' : 'process', fault.which, deeds);
  }
}

async function restartServer(world: World, signal: NodeJS.Signals, forMs: number): Promise<void> {
  world.signal(world.server, signal);
  await world.server.ended;
  await delay(forMs);
  await world.startServer();
}

async function restartAgent(
  world: World,
  node: number,
  signal: NodeJS.Signals,
  forMs: number,
): Promise<void> {
  const { program } = world.agents[node]!;
  world.signal(program, signal);
  await program.ended;
  await delay(forMs);
  world.startAgent(node);
}

async function pause(world: World, program: Program, forMs: number): Promise<void> {
  world.signal(program, 'SIGSTOP');
  await delay(forMs);
  world.signal(program, 'SIGCONT');
}

async function fill(world: World, dir: string, forMs: number): Promise<void> {
  if (!world.canFillDisks) return;
  world.fillDisk(dir);
  await delay(forMs);
  world.freeDisk(dir);
}

/** An attempt that a shim starts or has started, by the files of its agent. */
interface Served {
  readonly job: string;
  readonly attempt: number;
  readonly node: string;
  readonly shim: ProcessIdentity;
  /** null until it is started. */
  readonly process: ProcessIdentity | null;
}

function killOne(world: World, what: 'shim' | 'process', which: number, deeds: Deeds): void {
  const served = world.agents.flatMap(listServed);
  const running = served.filter((each) => each.process !== null && isAlive(each[what]));
  const chosen = running[Math.floor(which * running.length)]?.[what];
  if (!chosen) return;
  // A shim whose attempt has ended may have been given another one.
  const hit = served.filter((each) => isSame(each[what], chosen));
  const at = Date.now();
  for (const { job, attempt, node } of hit) deeds.kills.push({ what, job, attempt, node, at });
  killIfThere(chosen.pid);
}

function isSame(one: ProcessIdentity | null, { pid, start_ticks }: ProcessIdentity): boolean {
  return one?.pid === pid && one.start_ticks === start_ticks;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function listServed({ stateDir, nodeId }: AgentPlace): Served[] {
  const jobsDir = path.join(stateDir, 'jobs');
  return list(jobsDir).flatMap((job) =>
    list(path.join(jobsDir, job)).flatMap((name) => {
      const dir = path.join(jobsDir, job, name);
      const state = loadJson<{ state: { shim: ProcessIdentity } }>(path.join(dir, 'state.json'));
      const started = loadJson<ProcessIdentity>(path.join(dir, 'started.json'));
      if (state === null) return [];
      const attempt = Number(/^attempt-(\d+)$/.exec(name)?.[1]);
      return [{ job, attempt, node: nodeId, shim: state.state.shim, process: started }];
    }),
  );
}

/** Its number alone may be another process's by now: a full disk can keep an end from being noted for good. */
interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, in clock ticks since the host was. */
  readonly start_ticks: number;
}

function isAlive(identity: ProcessIdentity | null): boolean {
  if (identity === null) return false;
  const { pid, start_ticks } = identity;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in brackets, may hold anything; state and start are the 3rd and the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && Number(fields[19]) === start_ticks;
  } catch {
    return false;
  }
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}

function loadJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}
