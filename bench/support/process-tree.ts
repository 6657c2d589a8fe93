import { readFileSync, readdirSync } from 'node:fs';

/** The pids whose parent is `parent`. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** What the process alone, without its children, has used of the processor. */
export function cpuSecondsOf(pid: number): number {
  const [, , , , , , , , , , , user, system] = statOf(pid) ?? [];
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** As Linux counts for programs, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

function parentOf(pid: number): number | null {
  const stat = statOf(pid);
  return stat && Number(stat[1]);
}

/** The fields from the state on; null when the process is gone. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
