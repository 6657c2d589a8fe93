import { until } from '@svc/hooks/testing';
import { readdir, readFile } from 'node:fs/promises';

/** Kills every process of this host that carries the node's id in its environment, as the processes of jobs do. */
export async function killProcessesOf(nodeId: string): Promise<void> {
  await until(async () => {
    const pids = await findProcesses('environ', `SVC_NODE_ID=${nodeId}`);
    for (const pid of pids) kill(pid);
    return pids.length === 0;
  }, 'the end of the processes of the node');
}

/** Whether a process lives whose command line has that text. */
export async function isCommandAlive(text: string): Promise<boolean> {
  return (await findProcesses('cmdline', text)).length > 0;
}

/** Whether a process with that pid runs; a zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  return stat !== null && !/\) [ZX] /.test(stat);
}

/** Zombies have neither. */
async function findProcesses(file: 'environ' | 'cmdline', text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const content = await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
      return content.replaceAll('\0', ' ').includes(text) && pid !== process.pid ? [pid] : [];
    }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}
