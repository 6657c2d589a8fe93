import type { HostProcess } from '@svc/contract';
import { MAX_HOST_PROCESSES } from '@svc/contract/protocol';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HostCollector, Measured } from '../core/collector.js';
import { ProcessOwners } from './process-owner.js';

/** All processes are looked through in so long, or more seldom where that takes more than this share of the time. */
const SCAN_EVERY_MS = 10_000;
const SCAN_SHARE = 0.001;
const SCANNED_AT_ONCE = 50;
/** Of the whole host: those that take most memory, and those that take most CPU. */
const MOST_OF_HOST = 5;
const MOST_OF_JOBS = MAX_HOST_PROCESSES - 2 * MOST_OF_HOST;
/** The environment of a process may still be that of its parent when it is seen first. */
const LOOKS_AT_ENVIRONMENT = 2;
/** In /proc, on every platform. */
const TICKS_PER_S = 100;

/** What /proc/PID/stat says. */
export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  /** A pid may be used again: with this it is one process. */
  readonly startedAt: number;
  readonly cpuTicks: number;
  readonly residentPages: number;
}

interface Seen {
  stat: ProcessStat;
  at: number;
  cpuPercent: number | null;
  jobId: string | null;
  looks: number;
}

/**
 * The processes of a Linux host that are worth showing: those of jobs, and the few that take most. These are measured each time. Which they are is found by
 * looking through all processes, which is done seldom enough to take no more than a thousandth of a CPU however many there are.
 */
export class ProcessMeter implements HostCollector {
  readonly name = 'processes';
  readonly of = 'host';
  readonly #procDir: string;
  readonly #owners: ProcessOwners;
  readonly #pageKib: number;
  readonly #seen = new Map<number, Seen>();
  #shown: readonly Seen[] = [];
  #scanAt = -Infinity;

  constructor(nodeId: string, procDir = '/proc') {
    this.#procDir = procDir;
    this.#owners = new ProcessOwners(nodeId, procDir);
    this.#pageKib = readPageKib();
  }

  /** Its figures are processes: see `hostProcesses`. */
  async measure(): Promise<Measured> {
    if (performance.now() < this.#scanAt) this.#refresh();
    else await this.#scan();
    return {};
  }

  hostProcesses(): readonly HostProcess[] {
    return this.#shown.map(({ stat, cpuPercent, jobId }) => ({
      pid: stat.pid,
      name: stat.name,
      user: this.#owners.userOf(stat.pid),
      cpu_percent: cpuPercent,
      mem_mb: this.#toMb(stat.residentPages),
      job_id: jobId,
    }));
  }

  #refresh(): void {
    this.#shown = this.#shown.filter(({ stat }) => this.#look(stat.pid) !== null);
  }

  async #scan(): Promise<void> {
    let spentMs = 0;
    const alive = new Set<number>();
    const pids = readdirSync(this.#procDir).filter((entry) => /^\d+$/.test(entry));
    for (let first = 0; first < pids.length; first += SCANNED_AT_ONCE) {
      const from = performance.now();
      for (const pid of pids.slice(first, first + SCANNED_AT_ONCE))
        if (this.#look(Number(pid)) !== null) alive.add(Number(pid));
      spentMs += performance.now() - from;
      await nextTurn();
    }
    for (const pid of this.#seen.keys()) if (!alive.has(pid)) this.#seen.delete(pid);
    this.#shown = choose([...this.#seen.values()]);
    this.#scanAt = performance.now() + Math.max(SCAN_EVERY_MS, spentMs / SCAN_SHARE);
  }

  #look(pid: number): Seen | null {
    const text = read(`${this.#procDir}/${pid}/stat`);
    const stat = text === null ? null : parseStat(text);
    if (stat === null) return null;
    const at = performance.now();
    const before = this.#seen.get(pid);
    const seen =
      before?.stat.startedAt === stat.startedAt
        ? Object.assign(before, { stat, at, cpuPercent: cpuPercentOf(before, stat, at) })
        : { stat, at, cpuPercent: null, jobId: null, looks: 0 };
    this.#seen.set(pid, seen);
    // A thread of the kernel has no memory and no environment.
    if (seen.jobId === null && seen.looks < LOOKS_AT_ENVIRONMENT && stat.residentPages > 0) {
      seen.looks += 1;
      seen.jobId = this.#owners.jobOf(pid) ?? null;
    }
    return seen;
  }

  #toMb(pages: number): number {
    return Math.round((pages * this.#pageKib) / 1024);
  }
}

function cpuPercentOf(before: Seen, stat: ProcessStat, at: number): number {
  const seconds = (at - before.at) / 1000;
  const ticks = stat.cpuTicks - before.stat.cpuTicks;
  return Math.round((1000 * ticks) / TICKS_PER_S / seconds) / 10;
}

/** Those of jobs first; each once. */
function choose(all: readonly Seen[]): Seen[] {
  const byMemory = all.toSorted((a, b) => b.stat.residentPages - a.stat.residentPages);
  const byCpu = all
    .filter(({ cpuPercent }) => (cpuPercent ?? 0) > 0)
    .sort((a, b) => (b.cpuPercent ?? 0) - (a.cpuPercent ?? 0));
  const ofJobs = byMemory.filter(({ jobId }) => jobId !== null).slice(0, MOST_OF_JOBS);
  return [...new Set([...ofJobs, ...byMemory.slice(0, MOST_OF_HOST), ...byCpu.slice(0, MOST_OF_HOST)])];
}

/** `pid (name) state …`, where the name may hold spaces and parentheses. null: no such line. */
export function parseStat(text: string): ProcessStat | null {
  const [from, to] = [text.indexOf('('), text.lastIndexOf(')')];
  if (from < 0 || to < from) return null;
  const fields = text.slice(to + 2).split(' ');
  const [user, system, startedAt, residentPages] = [11, 12, 19, 21].map((place) => Number(fields[place]));
  const stat = {
    pid: parseInt(text, 10),
    name: text.slice(from + 1, to),
    startedAt: startedAt as number,
    cpuTicks: (user as number) + (system as number),
    residentPages: residentPages as number,
  };
  return Object.values(stat).some((value) => Number.isNaN(value)) ? null : stat;
}

const AT_PAGESZ = 6n;

/** From the auxiliary vector, pairs of numbers of 64 bits: hosts with ARM processors may have pages of 64 KiB. */
function readPageKib(): number {
  try {
    const vector = readFileSync('/proc/self/auxv');
    for (let at = 0; at + 16 <= vector.length; at += 16)
      if (vector.readBigUInt64LE(at) === AT_PAGESZ) return Number(vector.readBigUInt64LE(at + 8)) / 1024;
  } catch {
    // As almost everywhere.
  }
  return 4;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
