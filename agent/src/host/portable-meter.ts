import type { HostProcess } from '@svc/contract';
import type { Systeminformation } from 'systeminformation';
import type { HostCollector, Measured } from '../core/collector.js';
import type { AgentLog } from '../core/log.js';
import { SlowCollector } from '../core/slow-collector.js';

/** On macOS each answer starts several programs. */
const EVERY_MS = 10_000;
const MOST_PROCESSES = 10;

/** Measures a host that is not Linux: processor, memory, network, and the processes that take most. */
export function createPortableMeter(log: AgentLog): HostCollector {
  return new SlowCollector({ name: 'host', everyMs: EVERY_MS, log, ask: measureHost });
}

/** The library is loaded here, as it takes more memory than the rest of an agent on Linux may. */
export async function measureHost(): Promise<{ measured: Measured; hostProcesses: HostProcess[] }> {
  const { default: system } = await import('systeminformation');
  const [load, memory, interfaces, processes] = await Promise.all([
    system.currentLoad(),
    system.mem(),
    system.networkStats('*'),
    system.processes(),
  ]);
  return {
    measured: {
      'cpu.util': Math.round(load.currentLoad * 10) / 10,
      'ram.used_mb': toMb(memory.total - memory.available),
      'ram.total_mb': toMb(memory.total),
      ...toNetwork(interfaces),
    },
    hostProcesses: toHostProcesses(processes.list),
  };
}

/** The library gives bytes a second since its answer before; null the first time. */
export function toNetwork(
  interfaces: readonly Pick<Systeminformation.NetworkStatsData, 'iface' | 'rx_sec' | 'tx_sec'>[],
): Measured {
  const outward = interfaces.filter(({ iface }) => !/^lo\d*$/.test(iface));
  const sum = (figure: 'rx_sec' | 'tx_sec') =>
    Math.round(8 * outward.reduce((total, each) => total + (each[figure] ?? 0), 0));
  if (outward.every(({ rx_sec }) => rx_sec === null)) return {};
  return { 'net.rx_bps': sum('rx_sec'), 'net.tx_bps': sum('tx_sec') };
}

type Listed = Pick<Systeminformation.ProcessesProcessData, 'pid' | 'name' | 'user' | 'cpu' | 'memRss'>;

/** Those that take most memory and most CPU. Other processes' environments cannot be read there, so none is of a job. */
export function toHostProcesses(all: readonly Listed[]): HostProcess[] {
  const byMemory = all.toSorted((a, b) => b.memRss - a.memRss).slice(0, MOST_PROCESSES / 2);
  const byCpu = all.toSorted((a, b) => b.cpu - a.cpu).slice(0, MOST_PROCESSES / 2);
  return [...new Set([...byMemory, ...byCpu])].map(({ pid, name, user, cpu, memRss }) => ({
    pid,
    name: name.slice(0, 100),
    user: user === '' ? null : user.slice(0, 100),
    cpu_percent: Math.round(cpu * 10) / 10,
    mem_mb: Math.round(memRss / 1024),
    job_id: null,
  }));
}

const toMb = (bytes: number) => Math.round(bytes / 2 ** 20);
