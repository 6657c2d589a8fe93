/**
 * Finds out whether the kernel's out-of-memory killer killed a process or one of its descendants. The exit status does not show it: it is
 * an ordinary SIGKILL, or exit code 137 of a shell whose child was killed. Only proof for the process itself counts. A descendant that
 * lived for less than the interval between two looks may be missed.
 */
import { KernelLog, messageOfKernel } from '@svc/agent/kernel-log';
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { familyOf } from './process-family.js';

/** The pids in the kernel's messages are those of this namespace, whose inode never changes. */
const INITIAL_PID_NAMESPACE = 'pid:[4026531836]';
const KILLED =
  /^(?:Memory cgroup out of memory|Out of memory)[^:]*: Killed process (\d+)\b|^oom-kill:.*,pid=(\d+),/;
const LOOK_MS = 1000;

export interface OomWitness {
  /** To be called before a process is started: kills until then concern earlier processes with the same pid. */
  prepare(): void;
  watch(pid: number): OomWatch;
}

/** Asked right after the process has been reaped. */
export interface OomWatch {
  wasKilled(): boolean;
  /** Whether a descendant was, at any time. */
  wasDescendantKilled(): boolean;
  close(): void;
}

/** The kernel's own messages name the pid. Where they cannot be read, the memory cgroup of the process may prove it. */
export function createOomWitness(): OomWitness {
  const messages = KernelMessages.open();
  if (messages === null) return { prepare: () => {}, watch: (pid) => new CgroupWatch(pid) };
  return {
    prepare: () => void messages.readKilled(),
    watch: (pid) => new KernelWatch(pid, messages),
  };
}

export class KernelMessages {
  private constructor(private readonly log: KernelLog) {}

  /** null when it may not be read, or its pids are those of another namespace. */
  static open(): KernelMessages | null {
    try {
      if (readlinkSync('/proc/self/ns/pid') !== INITIAL_PID_NAMESPACE) return null;
      return new KernelMessages(KernelLog.open());
    } catch {
      return null;
    }
  }

  /** The processes that the kernel has killed for lack of memory since the last call. */
  readKilled(): Set<number> {
    const pids = new Set<number>();
    for (let text = this.log.next(); text !== null; text = this.log.next()) {
      const pid = toKilledPid(text);
      if (pid !== null) pids.add(pid);
    }
    return pids;
  }

  close(): void {
    this.log.close();
  }
}

export function toKilledPid(record: string): number | null {
  const found = KILLED.exec(messageOfKernel(record) ?? '');
  return found === null ? null : Number(found[1] ?? found[2]);
}

/** Uses the kernel's messages, which name the processes killed since the last look. */
export class KernelWatch implements OomWatch {
  readonly #pid: number;
  readonly #messages: Pick<KernelMessages, 'readKilled'>;
  #family: ReadonlySet<number> = new Set();
  #isKilled = false;
  #isDescendantKilled = false;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, messages: Pick<KernelMessages, 'readKilled'>) {
    this.#pid = pid;
    this.#messages = messages;
    this.look();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  look(): void {
    this.#readMessages();
    this.#family = familyOf(this.#pid);
  }

  wasKilled(): boolean {
    this.#readMessages();
    return this.#isKilled;
  }

  wasDescendantKilled(): boolean {
    this.#readMessages();
    return this.#isDescendantKilled;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #readMessages(): void {
    for (const pid of this.#messages.readKilled()) {
      if (pid === this.#pid) this.#isKilled = true;
      if (this.#family.has(pid)) this.#isDescendantKilled = true;
    }
  }
}

interface Accounting {
  readonly dir: string;
  readonly killed: number;
  readonly pids: ReadonlySet<number>;
}

/**
 * The memory cgroup counts the kills, without pids. The process was killed if the count has risen since the last look and it is the only
 * process of the cgroup that has ended since. A descendant was killed if only processes of the family have ended.
 */
export class CgroupWatch implements OomWatch {
  readonly #pid: number;
  #last: Accounting | null = null;
  #family: ReadonlySet<number> = new Set();
  #isDescendantKilled = false;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.look();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  look(): void {
    this.#readMessages();
    const dir = findMemoryCgroup(this.#pid);
    this.#last = dir === null ? null : readAccounting(dir);
    this.#family = familyOf(this.#pid);
  }

  wasKilled(): boolean {
    const gone = this.#goneByKill();
    return gone.length === 1 && gone[0] === this.#pid;
  }

  wasDescendantKilled(): boolean {
    this.#readMessages();
    return this.#isDescendantKilled;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #readMessages(): void {
    const gone = this.#goneByKill();
    const hasDescendant = gone.some((pid) => this.#family.has(pid));
    if (hasDescendant && gone.every((pid) => pid === this.#pid || this.#family.has(pid)))
      this.#isDescendantKilled = true;
  }

  /** The processes of the cgroup that have ended since the last look, if the kernel killed any of them. */
  #goneByKill(): number[] {
    const before = this.#last;
    const now = before && readAccounting(before.dir);
    if (before === null || now === null || now.killed <= before.killed) return [];
    return [...before.pids].filter((pid) => !now.pids.has(pid));
  }
}

/** The directory of the process's memory cgroup, of version 1 or 2, as it is mounted here. */
function findMemoryCgroup(pid: number): string | null {
  const entries = readLines(`/proc/${pid}/cgroup`).map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? []);
  for (const [type, controller] of [
    ['cgroup', 'memory'],
    ['cgroup2', ''],
  ] as const) {
    const place = entries.find(([, controllers]) => controllers?.split(',').includes(controller))?.[2];
    const dir = place === undefined ? null : locate(place, type, controller);
    if (dir !== null) return dir;
  }
  return null;
}

/** `… root mount-point options … - type source options` */
function locate(place: string, type: string, controller: string): string | null {
  for (const line of readLines('/proc/self/mountinfo')) {
    const [mounted = '', system = ''] = line.split(' - ');
    const [, , , root = '', mountPoint = ''] = mounted.split(' ');
    const [mountedType, , options = ''] = system.split(' ');
    const has = controller === '' || options.split(',').includes(controller);
    const below = path.posix.relative(root, place);
    if (mountedType === type && has && !below.startsWith('..')) return path.join(mountPoint, below);
  }
  return null;
}

function readAccounting(dir: string): Accounting | null {
  const counts = [
    ...readLines(path.join(dir, 'memory.events')),
    ...readLines(path.join(dir, 'memory.oom_control')),
  ];
  const killed = counts
    .map((line) => /^oom_kill (\d+)$/.exec(line)?.[1])
    .find((count) => count !== undefined);
  const pids = new Set(readLines(path.join(dir, 'cgroup.procs')).map(Number));
  return killed === undefined ? null : { dir, killed: Number(killed), pids };
}

/** Empty when it cannot be read. */
function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}
