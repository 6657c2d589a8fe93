import { readFileSync, readdirSync } from 'node:fs';

/** The pids of all live processes that carry that entry in the environment they were started with. */
export function findMarked(name: string, value: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(`${name}=${value}`) && !isZombie(pid))
    .map(Number);
}

/** Ends them; some may end by themselves meanwhile. */
export function killMarked(name: string, value: string): void {
  for (const pid of findMarked(name, value)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Every live process that was started with that entry in its environment. */
export function listMarked(name: string): { readonly pid: number; readonly value: string }[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((pid) => {
      const entry = readProc(pid, 'environ')
        .split('\0')
        .find((text) => text.startsWith(`${name}=`));
      return entry === undefined || isZombie(pid)
        ? []
        : [{ pid: Number(pid), value: entry.slice(name.length + 1) }];
    });
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(String(pid), 'status')) ?? [];
  if (kilobytes === undefined) throw new Error(`no process ${pid}`);
  return Number(kilobytes) / 1024;
}

function isZombie(pid: string): boolean {
  return /^State:\s+Z/m.test(readProc(pid, 'status'));
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Its argument list, as it was started. */
export function argumentsOf(pid: number): string[] {
  return readProc(String(pid), 'cmdline').split('\0').slice(0, -1);
}
