import { readFileSync, writeFileSync } from 'node:fs';

/** Resident memory of a process against what it held when this was made. */
export class MemoryWatch {
  readonly idleMb: number;

  constructor(private readonly pid: number) {
    // 5: the high-water mark begins again at what is held now.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    this.idleMb = readMb(pid, 'VmRSS');
  }

  /** The most it has held since, above idle. */
  get grownMb(): number {
    return readMb(this.pid, 'VmHWM') - this.idleMb;
  }
}

function readMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}
