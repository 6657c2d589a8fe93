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
  readonly threads: number;
}

/** Environment variables that identify every process of an attempt, also after its parent has ended. */
export type AttemptMark = Readonly<Record<string, string>>;

/** What identifies the processes of an attempt; one of these signs is enough. */
export interface AttemptSigns {
  readonly mark: AttemptMark;
  /** Its group and its session are the attempt's. */
  readonly leader: ProcessIdentity | null;
  /** Files that only the attempt has as stdout or stderr: a process may overwrite its environment, as `setproctitle` does. */
  readonly outputs: readonly string[];
  /** Those that were seen to descend from the leader while their parents lived. */
  readonly family?: readonly ProcessIdentity[];
}

/** How long a sweep waits for the processes that it has killed. */
export interface SweepOptions {
  /** Default: a minute. Freeing the memory of a large process, and of a GPU, takes time. */
  readonly limitMs?: number;
  /** Called once when it takes longer than usual. */
  readonly onSlow?: (pids: readonly number[]) => void;
  /** Aborts the sweep, when another process will finish it. */
  readonly signal?: AbortSignal;
}

const LIMIT_MS = 60_000;
/** An agent that starts kills leftovers first, and the jobs that run on wait for it. */
const ORPHANS_LIMIT_MS = 5000;
const SLOW_MS = 1000;
const PAUSE_MS = 10;
const MAX_PAUSE_MS = 500;
/** The maximum number of repeated looks that are only due to processes that have just ended. */
const MAX_UNSURE_LOOKS = 500;

/** The identity of a live process; null when there is none. */
export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === null ? null : { pid, start_ticks: stat.start_ticks };
}

/** Whether exactly this process still runs. A zombie does not, unless threads of it are left. */
export function isRunning(process: ProcessIdentity): boolean {
  const stat = readStat(process.pid);
  return stat !== null && isSame(stat, process) && !isDead(stat);
}

/** Whether a signal has stopped it. */
export function isStopped(pid: number): boolean {
  return readStat(pid)?.state === 'T';
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
  // The loop also visits what is added.
  for (const pid of family.keys())
    for (const stat of all) if (stat.parent === pid) family.set(stat.pid, stat);
  family.delete(ancestor.pid);
  return [...family.values()];
}

/** Kills everything that belongs to an attempt, until none is left. Returns the pids that outlived it (stuck in the kernel), as a rule none. */
export async function sweep(signs: AttemptSigns, options: SweepOptions = {}): Promise<number[]> {
  const { mark, leader, outputs, family = [] } = signs;
  const led = leader !== null && !isReused(leader) ? leader.pid : null;
  const isLed = ({ group, session }: ProcessStat) => led !== null && (group === led || session === led);
  const links = new Set(outputs.flatMap(toLinks));
  const isMember = (stat: ProcessStat) => isLed(stat) || isMarked(stat, mark) || writesTo(stat, links);
  // Nothing of an attempt is older than its leader, which spares a look at most of the host's processes.
  return killUntilGone(new ProcessSweep(isMember, leader?.start_ticks ?? 0, family), options);
}

/** Kills every marked process for which `isOrphan` says so, until none is left. `mark`: variables that it must carry. */
export async function sweepMarked(
  mark: AttemptMark,
  isOrphan: (env: ProcessEnvironment) => boolean,
): Promise<number[]> {
  const isMember = (stat: ProcessStat) =>
    readEnvironments(stat).some((env) => carries(env, mark) && isOrphan(env));
  return killUntilGone(new ProcessSweep(isMember), { limitMs: ORPHANS_LIMIT_MS });
}

async function killUntilGone(
  processes: ProcessSweep,
  { limitMs = LIMIT_MS, onSlow, signal }: SweepOptions,
): Promise<number[]> {
  const begunAt = performance.now();
  let [pauseMs, unsure, isSlow] = [PAUSE_MS, 0, false];
  for (;;) {
    const { pids, isSure, hasNew } = processes.look();
    if (pids.length === 0 && (isSure || ++unsure === MAX_UNSURE_LOOKS)) return [];
    for (const pid of pids) send(pid, 'SIGKILL');
    const waitedMs = performance.now() - begunAt;
    if (waitedMs >= limitMs || signal?.aborted === true) return pids;
    if (waitedMs >= SLOW_MS && pids.length > 0 && !isSlow) {
      isSlow = true;
      onSlow?.(pids);
    }
    await delay(pauseMs);
    pauseMs = hasNew || pids.length === 0 ? PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
}

/** Looks for the members of something among the processes, again and again. */
class ProcessSweep {
  readonly #isMember: (stat: ProcessStat) => boolean;
  readonly #since: number;
  readonly #members: Map<number, ProcessIdentity>;
  readonly #knownDead = new Set<number>();

  /** Members are sought among what started at `since` (clock ticks since boot) or later. */
  constructor(isMember: (stat: ProcessStat) => boolean, since = 0, family: readonly ProcessIdentity[] = []) {
    this.#isMember = isMember;
    this.#since = since;
    this.#members = new Map(family.map((member) => [member.pid, member]));
  }

  /**
   * The members that live. Not sure: a process ended between the listing and the question what it is; if it was a member, it may have
   * left a child that was not there yet when the list was made.
   */
  look(): { pids: number[]; isSure: boolean; hasNew: boolean } {
    const pids: number[] = [];
    const known = this.#members.size;
    let isSure = true;
    for (const pid of listPids()) {
      const stat = readStat(pid);
      if (stat !== null && (stat.start_ticks < this.#since || pid === process.pid)) continue;
      if (stat !== null && !isDead(stat) && this.#recognizes(stat)) pids.push(pid);
      else if (this.#hasJustEnded(pid)) isSure = false;
    }
    return { pids, isSure, hasNew: this.#members.size > known };
  }

  /** A known member stays a member: a process that is exiting has no environment and no files any more. */
  #recognizes(stat: ProcessStat): boolean {
    const known = this.#members.get(stat.pid);
    if (known !== undefined && isSame(known, stat)) return true;
    if (!this.#isMember(stat)) return false;
    this.#members.set(stat.pid, stat);
    return true;
  }

  #hasJustEnded(pid: number): boolean {
    const stat = readStat(pid);
    if (stat !== null && !isDead(stat)) return false;
    const isNews = !this.#knownDead.has(pid);
    this.#knownDead.add(pid);
    return isNews;
  }
}

function isMarked(stat: ProcessStat, mark: AttemptMark): boolean {
  return readEnvironments(stat).some((env) => carries(env, mark));
}

/** Whether its stdout or stderr is one of the files. False for a process that may not be inspected. */
function writesTo(stat: ProcessStat, links: ReadonlySet<string>): boolean {
  if (links.size === 0) return false;
  return placesOf(stat).some((place) => [1, 2].some((fd) => links.has(readLink(`${place}/fd/${fd}`) ?? '')));
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
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }
  get(name: string): string | null {
    const start = this.#text.indexOf(`\0${name}=`);
    if (start < 0) return null;
    const from = start + name.length + 2;
    return this.#text.slice(from, this.#text.indexOf('\0', from));
  }
}

/** Must hold: an empty mark is carried by no process, not by every one. */
function carries(env: ProcessEnvironment, mark: AttemptMark): boolean {
  const entries = Object.entries(mark);
  return entries.length > 0 && entries.every(([name, value]) => env.get(name) === value);
}

/** Empty for a process that has ended, is a kernel thread, or may not be read. */
function readEnvironments(stat: ProcessStat): ProcessEnvironment[] {
  return placesOf(stat).flatMap((place) => readEnvironment(place) ?? []);
}

function readEnvironment(place: string): ProcessEnvironment | null {
  const text = readProc(`${place}/environ`, 'latin1');
  return text ? new ProcessEnvironment(`\0${text}\0`) : null;
}

/** Where its environment and its files are shown: by its main thread, and once that has ended by the threads that are left. */
function placesOf({ pid, state }: ProcessStat): string[] {
  const dir = `/proc/${pid}`;
  return state === 'Z' ? listThreads(pid).map((tid) => `${dir}/task/${tid}`) : [dir];
}

function listProcesses(): ProcessStat[] {
  return listPids().flatMap((pid) => readStat(pid) ?? []);
}

/** Must hold: it throws rather than list none. */
function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
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
  const text = readStatText(pid);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = 'X', parent, group, session] = fields;
  const numbers = {
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    threads: Number(fields[17]),
  };
  return { pid, state, ...numbers, start_ticks: Number(fields[19]) };
}

/** A main thread may have ended while others go on, or are still giving back memory and devices: its process has not ended. */
function isDead({ state, threads }: ProcessStat): boolean {
  return state === 'X' || (state === 'Z' && threads <= 1);
}

/** Must hold: it throws rather than tell of a process that may live that there is none, as when the agent has too many files open. */
function readStatText(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (/^(ENOENT|ESRCH)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
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
