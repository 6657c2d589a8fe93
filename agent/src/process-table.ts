import { readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A process told apart from a later one with the same pid by when it started (clock ticks since boot). */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start_ticks: number;
}

interface ProcessStat extends ProcessIdentity {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** Environment variables that every process of an attempt carries, whoever its parent is by now. */
export type AttemptMark = Readonly<Record<string, string>>;

/** By each of these alone a process is known as one of the attempt. */
export interface AttemptSigns {
  readonly mark: AttemptMark;
  /** Its group and its session are the attempt's. */
  readonly leader: ProcessIdentity | null;
  /** Files that are stdout or stderr of nobody else: a process may write over its environment, as `setproctitle` does. */
  readonly outputs: readonly string[];
  /** Those that were seen to descend from the leader while their parents lived. */
  readonly family?: readonly ProcessIdentity[];
}

const SWEEP_PAUSE_MS = 10;
const SWEEP_ROUNDS = 500;

/** The identity of a live process; null when there is none. */
export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === null ? null : { pid, start_ticks: stat.start_ticks };
}

/** Whether exactly this process still runs. A zombie does not. */
export function isRunning(process: ProcessIdentity): boolean {
  const stat = readStat(process.pid);
  return stat !== null && isSame(stat, process) && !isDead(stat);
}

/** The boot of this host: a process seen in another boot is gone. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Sends the signal to the process group that `leader` leads; a group without processes is no error. */
export function signalGroup(leader: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isGroupAlive(leader)) send(-leader.pid, signal);
}

/** Whether a process of the group that `leader` led still runs. */
export function isGroupAlive(leader: ProcessIdentity): boolean {
  if (!send(-leader.pid, 0) || isReused(leader)) return false;
  return listProcesses().some((stat) => stat.group === leader.pid && !isDead(stat));
}

/** Those that descend from a process, as long as their parents live. */
export function listDescendants(ancestor: ProcessIdentity): ProcessIdentity[] {
  const all = listProcesses();
  const family = new Map(all.filter((stat) => isSame(stat, ancestor)).map((stat) => [stat.pid, stat]));
  // What is added is come to in its turn.
  for (const pid of family.keys())
    for (const stat of all) if (stat.parent === pid) family.set(stat.pid, stat);
  family.delete(ancestor.pid);
  return [...family.values()];
}

/** Kills everything that belongs to an attempt, until none is left. Returns the pids that outlived it (stuck in the kernel), as a rule none. */
export async function sweep({ mark, leader, outputs, family = [] }: AttemptSigns): Promise<number[]> {
  const led = leader !== null && !isReused(leader) ? leader.pid : null;
  const isLed = ({ group, session }: ProcessStat) => led !== null && (group === led || session === led);
  const isKin = (stat: ProcessStat) => family.some((kin) => isSame(kin, stat));
  const links = new Set(outputs.flatMap(toLinks));
  // Nothing of an attempt is older than its leader, which spares a look at most of the host's processes.
  const since = leader?.start_ticks ?? 0;
  return killUntilGone(
    since,
    (stat) => isLed(stat) || isKin(stat) || isMarked(stat.pid, mark) || writesTo(stat.pid, links),
  );
}

/** Kills every marked process for which `isOrphan` says so, until none is left. `mark`: variables that it must carry. */
export async function sweepMarked(
  mark: AttemptMark,
  isOrphan: (env: ProcessEnvironment) => boolean,
): Promise<number[]> {
  return killUntilGone(0, ({ pid }) => {
    const env = readEnvironment(pid);
    return env !== null && carries(env, mark) && isOrphan(env);
  });
}

type Membership = (stat: ProcessStat) => boolean;

/** Members are sought among what started at `since` (clock ticks since boot) or later. */
async function killUntilGone(since: number, isMember: Membership): Promise<number[]> {
  const knownDead = new Set<number>();
  for (let round = 0; ; round += 1) {
    const { pids, isSure } = look(since, isMember, knownDead);
    if ((pids.length === 0 && isSure) || round === SWEEP_ROUNDS) return pids;
    for (const pid of pids) send(pid, 'SIGKILL');
    await delay(SWEEP_PAUSE_MS);
  }
}

/**
 * The members that live. Not sure: a process ended between the listing and the question what it is; if it was a member, it may have
 * left a child that was not there yet when the list was made.
 */
function look(
  since: number,
  isMember: Membership,
  knownDead: Set<number>,
): { pids: number[]; isSure: boolean } {
  const pids: number[] = [];
  let isSure = true;
  for (const pid of listPids()) {
    const stat = readStat(pid);
    if (stat !== null && (stat.start_ticks < since || pid === process.pid)) continue;
    if (stat !== null && !isDead(stat) && isMember(stat)) pids.push(pid);
    else if (hasJustEnded(pid, knownDead)) isSure = false;
  }
  return { pids, isSure };
}

function hasJustEnded(pid: number, knownDead: Set<number>): boolean {
  const stat = readStat(pid);
  if (stat !== null && !isDead(stat)) return false;
  const isNews = !knownDead.has(pid);
  knownDead.add(pid);
  return isNews;
}

function isMarked(pid: number, mark: AttemptMark): boolean {
  const env = readEnvironment(pid);
  return env !== null && carries(env, mark);
}

/** Whether its stdout or stderr is one of the files. Not known of a process that is not ours to look into, so: no. */
function writesTo(pid: number, links: ReadonlySet<string>): boolean {
  return links.size > 0 && [1, 2].some((fd) => links.has(readLink(`/proc/${pid}/fd/${fd}`) ?? ''));
}

/** What the kernel calls an open file: by its name without symbolic links, also when it has been removed. */
function toLinks(file: string): string[] {
  const real = path.join(toReal(path.dirname(file)), path.basename(file));
  return [real, `${real} (deleted)`];
}

/** A pid is free again only when its group and session are empty, so another process under it means they are. */
function isReused(leader: ProcessIdentity): boolean {
  const stat = readStat(leader.pid);
  return stat !== null && !isSame(stat, leader);
}

function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.start_ticks === other.start_ticks;
}

/** The environment that a process was started with. */
export class ProcessEnvironment {
  constructor(private readonly text: string) {}

  get(name: string): string | null {
    const start = this.text.indexOf(`\0${name}=`);
    if (start < 0) return null;
    const from = start + name.length + 2;
    return this.text.slice(from, this.text.indexOf('\0', from));
  }
}

/** The job whose attempt the process belongs to; null: none, or not ours to know. */
export function jobOf(pid: number): string | null {
  return readEnvironment(pid)?.get('SVC_JOB_ID') ?? null;
}

/** Must hold: an empty mark is carried by no process, not by every one. */
function carries(env: ProcessEnvironment, mark: AttemptMark): boolean {
  const entries = Object.entries(mark);
  return entries.length > 0 && entries.every(([name, value]) => env.get(name) === value);
}

/** null: gone, a kernel thread, or not ours to read. */
function readEnvironment(pid: number): ProcessEnvironment | null {
  const text = readProc(`/proc/${pid}/environ`, 'latin1');
  return text ? new ProcessEnvironment(`\0${text}\0`) : null;
}

function listProcesses(): ProcessStat[] {
  return listPids().flatMap((pid) => readStat(pid) ?? []);
}

function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readLink(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    return null;
  }
}

function toReal(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return path.resolve(dir);
  }
}

/** `pid (comm) state ppid group session …`, where comm may hold anything, parentheses and spaces too. */
function readStat(pid: number): ProcessStat | null {
  const text = readProc(`/proc/${pid}/stat`, 'latin1');
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = 'X', parent, group, session] = fields;
  const numbers = { parent: Number(parent), group: Number(group), session: Number(session) };
  return { pid, state, ...numbers, start_ticks: Number(fields[19]) };
}

function isDead(stat: ProcessStat): boolean {
  return stat.state === 'Z' || stat.state === 'X';
}

function readProc(file: string, encoding: BufferEncoding): string | null {
  try {
    return readFileSync(file, encoding);
  } catch {
    return null;
  }
}

/** false when there is no such process or group. Must hold: never 0, 1 or -1, which mean far more than one process. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isInteger(target) || Math.abs(target) <= 1)
    throw new RangeError(`not a process to signal: ${target}`);
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
