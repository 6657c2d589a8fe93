import { existsSync, readFileSync } from 'node:fs';
import type { HostCollector, Measured } from '../core/collector.js';

interface Counters {
  readonly at: number;
  readonly busyTicks: number;
  readonly totalTicks: number;
  readonly rxBytes: number;
  readonly txBytes: number;
}

/** Interfaces without a device of their own: what goes through them goes through another one too, or stays on the host. */
const VIRTUAL = /^(lo$|(veth|docker|br-|virbr|cni|podman|cali|flannel|vxlan|ifb|tun|tap|wg|dummy|bond|team))/;

/** Measures a Linux host: processor, memory and network. Rates are those since the measurement before. */
export class LinuxMeter implements HostCollector {
  readonly name = 'host';
  readonly of = 'host';
  #before: Counters | null = null;

  /** What cannot be read is left out; rates are missing the first time. */
  measure(): Measured {
    return { ...this.#rates(), ...toMemory(read('/proc/meminfo')) };
  }

  #rates(): Measured {
    const now = { at: performance.now(), ...toCpu(read('/proc/stat')), ...toNetwork(read('/proc/net/dev')) };
    const before = this.#before;
    this.#before = now;
    if (before === null || now.at === before.at) return {};
    const seconds = (now.at - before.at) / 1000;
    const ticks = now.totalTicks - before.totalTicks;
    return {
      ...(ticks > 0 && { 'cpu.util': round((100 * (now.busyTicks - before.busyTicks)) / ticks, 1) }),
      'net.rx_bps': Math.max(0, Math.round((8 * (now.rxBytes - before.rxBytes)) / seconds)),
      'net.tx_bps': Math.max(0, Math.round((8 * (now.txBytes - before.txBytes)) / seconds)),
    };
  }
}

/** `cpu  user nice system idle iowait irq softirq steal …` */
export function toCpu(stat: string): Pick<Counters, 'busyTicks' | 'totalTicks'> {
  const ticks = (/^cpu\s+(.+)$/m.exec(stat)?.[1] ?? '').split(/\s+/).slice(0, 8).map(Number);
  const totalTicks = ticks.reduce((sum, part) => sum + part, 0);
  const [, , , idle = 0, iowait = 0] = ticks;
  return { totalTicks, busyTicks: totalTicks - idle - iowait };
}

/**
 * Bytes in and out of the interfaces that have a device, so that what passes through a bridge, a bond or a container counts once. Where none
 * has one, as in a container: of those that are not virtual by their names.
 */
export function toNetwork(
  dev: string,
  hasDevice: (name: string) => boolean = isDevice,
): Pick<Counters, 'rxBytes' | 'txBytes'> {
  const all = [...dev.matchAll(/^\s*([^:\s]+):\s*(.+)$/gm)].map(([, name = '', figures = '']) => ({
    name,
    columns: figures.split(/\s+/).map(Number),
  }));
  const devices = all.filter(({ name }) => hasDevice(name));
  const counted = devices.length > 0 ? devices : all.filter(({ name }) => !VIRTUAL.test(name));
  const sumOf = (column: number) => counted.reduce((sum, { columns }) => sum + (columns[column] ?? 0), 0);
  return { rxBytes: sumOf(0), txBytes: sumOf(8) };
}

function isDevice(name: string): boolean {
  return existsSync(`/sys/class/net/${name}/device`);
}

/** What programs could still get counts as free, caches included. */
export function toMemory(meminfo: string): Measured {
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1]);
  const total = kib('MemTotal');
  const available = kib('MemAvailable');
  if (Number.isNaN(total) || Number.isNaN(available)) return {};
  return { 'ram.used_mb': Math.round((total - available) / 1024), 'ram.total_mb': Math.round(total / 1024) };
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
