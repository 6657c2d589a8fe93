import { formatBytes, formatMegabytes } from '../format.js';
import type { NodeSeriesByName } from './nodes.js';

/** A chart of a node: lines that share an axis. */
export interface NodeChart {
  readonly heading: string;
  readonly lines: readonly { readonly name: string; readonly series: NodeSeriesByName[string] }[];
  /** Of the y axis; null: that of the data. */
  readonly top: number | null;
  readonly format: (value: number) => string;
  /** It shows MiB. */
  readonly isBinary: boolean;
}

const MOST_LINES = 8;
const percent = (value: number) => `${Math.round(value)} %`;
const plain = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 });

/** What the agent measures of a GPU, most telling first. */
const GPU_FIGURES: Readonly<
  Record<string, { heading: string; top: number | null; format: NodeChart['format'] }>
> = {
  util: { heading: 'GPU utilization', top: 100, format: percent },
  mem_used_mb: { heading: 'GPU memory', top: null, format: formatMegabytes },
  temp_c: { heading: 'GPU temperature', top: null, format: (value) => `${Math.round(value)} °C` },
  power_w: { heading: 'GPU power', top: null, format: (value) => `${Math.round(value)} W` },
  sm_clock_mhz: { heading: 'GPU clock', top: null, format: (value) => `${Math.round(value)} MHz` },
  mem_clock_mhz: { heading: 'GPU memory clock', top: null, format: (value) => `${Math.round(value)} MHz` },
  throttled: { heading: 'GPU throttled', top: 1, format: plain },
  ecc_uncorrected: { heading: 'GPU memory errors, uncorrected', top: null, format: plain },
};
/** Said by the axis of another chart. */
const TOTALS = /^(ram\.total_mb|gpu\.\d+\.mem_total_mb)$/;
const GPU = /^gpu\.(\d+)\.(.+)$/;
const DISK = /^disk\.(?:(.+)\.)?(used|free|total)_gb$/;

/** All metrics of a node in charts: the GPUs, the host, its disks, then what other collectors measure, by name. */
export function toNodeCharts(series: NodeSeriesByName): NodeChart[] {
  const names = Object.keys(series);
  return [
    ...gpuCharts(series, names),
    ...hostCharts(series),
    ...diskCharts(series, names),
    ...otherCharts(series, names),
  ];
}

function gpuCharts(series: NodeSeriesByName, names: readonly string[]): NodeChart[] {
  const measured = names.filter((name) => !TOTALS.test(name)).flatMap((name) => GPU.exec(name)?.[2] ?? []);
  const figures = new Set([...Object.keys(GPU_FIGURES), ...measured.sort()]);
  return [...figures].flatMap((figure) => {
    const { heading, top, format } = Object.hasOwn(GPU_FIGURES, figure)
      ? GPU_FIGURES[figure]!
      : { heading: `GPU ${figure}`, top: null, format: plain };
    const gpus = names.flatMap((name) => {
      const [, index, own] = GPU.exec(name) ?? [];
      return own === figure ? [{ index: Number(index), name }] : [];
    });
    const lines = gpus
      .sort((a, b) => a.index - b.index)
      .map(({ index, name }) => ({ name: `GPU ${index}`, series: series[name]! }));
    const totals = gpus.map(({ index }) => lastOf(series[`gpu.${index}.mem_total_mb`]) ?? 0);
    const known = figure === 'mem_used_mb' ? Math.max(0, ...totals) || null : top;
    return inParts(heading, lines, known, format);
  });
}

function hostCharts(series: NodeSeriesByName): NodeChart[] {
  const line = (name: string, label: string) => (series[name] ? [{ name: label, series: series[name] }] : []);
  const network = [...line('net.rx_bps', 'received'), ...line('net.tx_bps', 'sent')];
  return [
    ...inParts('CPU', line('cpu.util', 'CPU'), 100, percent),
    ...inParts('Memory', line('ram.used_mb', 'memory'), lastOf(series['ram.total_mb']), formatMegabytes),
    ...inParts('Network', network, null, formatBitRate),
  ];
}

/** How full each disk is; that of the agent's state directory has no name of its own. */
function diskCharts(series: NodeSeriesByName, names: readonly string[]): NodeChart[] {
  const lines = names.flatMap((name) => {
    const [, mount, kind] = DISK.exec(name) ?? [];
    const total = lastOf(series[name.replace(/used_gb$/, 'total_gb')]);
    if (kind !== 'used' || !total) return [];
    const { values, ...used } = series[name]!;
    const label = `${mount ?? 'state directory'} of ${formatBytes(total * 1e9)}`;
    return [{ name: label, series: { ...used, values: values.map((value) => (value / total) * 100) } }];
  });
  return inParts('Disk used', lines, 100, percent);
}

function otherCharts(series: NodeSeriesByName, names: readonly string[]): NodeChart[] {
  const others = names.filter((name) => !isCharted(name)).sort();
  return others.flatMap((name) => inParts(name, [{ name, series: series[name]! }], null, plain));
}

function isCharted(name: string): boolean {
  const isHost = ['cpu.util', 'ram.used_mb', 'net.rx_bps', 'net.tx_bps'].includes(name);
  return isHost || GPU.test(name) || DISK.test(name) || TOTALS.test(name);
}

/** No chart has more lines than there are colours. */
function inParts(
  heading: string,
  lines: NodeChart['lines'],
  top: number | null,
  format: NodeChart['format'],
): NodeChart[] {
  const charts: NodeChart[] = [];
  for (let at = 0; at < lines.length; at += MOST_LINES) {
    const part = lines.slice(at, at + MOST_LINES);
    const names = lines.length > MOST_LINES ? `, ${part[0]!.name} to ${part.at(-1)!.name}` : '';
    const isBinary = format === formatMegabytes;
    charts.push({ heading: heading + names, lines: part, top, format, isBinary });
  }
  return charts;
}

function lastOf(series: NodeSeriesByName[string] | undefined): number | null {
  return series?.values.at(-1) ?? null;
}

/** `940 Mbit/s`. */
export function formatBitRate(bps: number): string {
  const units = ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'];
  const step = bps < 1000 ? 0 : Math.min(Math.floor(Math.log10(bps) / 3), units.length - 1);
  const value = bps / 1000 ** step;
  return `${Number(value.toFixed(value < 10 && step > 0 ? 1 : 0))} ${units[step]}`;
}
