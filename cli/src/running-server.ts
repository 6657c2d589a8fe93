import { readFileSync } from 'node:fs';
import path from 'node:path';

/** `<data dir>/server.json`: which server works on this data directory now. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** When the process started, in clock ticks since boot: a later process may have the same pid. */
  readonly start_ticks: number;
}

export function serverFile(dataDir: string): string {
  return path.join(dataDir, 'server.json');
}

/** This process as the server at that address. */
export function toRunningServer(url: string): RunningServer {
  return { url, pid: process.pid, start_ticks: readStartTicks(process.pid) ?? 0 };
}

/** The server that works on the data directory, or null when there is none that lives. */
export function loadRunningServer(dataDir: string): RunningServer | null {
  try {
    const server = JSON.parse(readFileSync(serverFile(dataDir), 'utf8')) as RunningServer;
    return readStartTicks(server.pid) === server.start_ticks ? server : null;
  } catch {
    return null;
  }
}

/** Of `/proc/PID/stat`: pid (comm) state ..., where comm may hold anything. null: no such process. */
function readStartTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return null;
  }
}
