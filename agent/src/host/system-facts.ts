import type { SystemFacts } from '@svc/contract';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import os from 'node:os';

/** Facts of this host; the disk is the one that holds `dir`. */
export async function loadSystemFacts(dir: string): Promise<SystemFacts> {
  const cpus = os.cpus();
  const disk = await statfs(dir);
  const model = cpus[0]?.model;
  return {
    cpu_count: cpus.length,
    ...(model === undefined ? {} : { cpu_model: model }),
    ram_total_mb: Math.round(os.totalmem() / 2 ** 20),
    disk_total_gb: Math.round(((disk.blocks * disk.bsize) / 1e9) * 10) / 10,
    os: loadOsName(),
  };
}

function loadOsName(): string {
  const kernel = `${os.type()} ${os.release()}`;
  try {
    const name = /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
    return name === undefined ? kernel : `${name} (${kernel})`;
  } catch {
    return kernel;
  }
}
