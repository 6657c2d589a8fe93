import type { SlotSpec } from '@svc/contract';
import { parsePlist, type PlistDict } from './plist.js';

/** A GPU as the registry of devices tells it. */
export interface Accelerator {
  readonly entry: PlistDict;
  readonly statistics: PlistDict;
}

/** The GPUs in an answer of `ioreg -r -c IOAccelerator -d 1 -a`, which is empty without any. Throws when it is something else. */
export function parseAccelerators(plist: string): Accelerator[] {
  const entries = plist.trim() === '' ? [] : parsePlist(plist);
  if (!Array.isArray(entries)) throw new Error('ioreg answered with something else than a list of devices');
  return entries.flatMap((entry) => {
    const statistics = isDict(entry) ? entry['PerformanceStatistics'] : null;
    return isDict(entry) && isDict(statistics) ? [{ entry, statistics }] : [];
  });
}

/** The memory of a GPU of Apple is that of the host. */
export function toSlots(accelerators: readonly Accelerator[], hostMemoryMb: number): SlotSpec[] {
  return accelerators.map((accelerator, index) => ({
    index,
    uuid: `apple-${index}`,
    model: modelOf(accelerator),
    memory_total_mb: numberOf(accelerator.entry, 'VRAM,totalMB') ?? hostMemoryMb,
    virtual: false,
  }));
}

export function toFigures(
  accelerators: readonly Accelerator[],
  hostMemoryMb: number,
): Record<string, number> {
  const measured: Record<string, number> = {};
  for (const [index, { entry, statistics }] of accelerators.entries()) {
    const utilization = firstOf(statistics, ['Device Utilization %', 'GPU Activity(%)']);
    const usedBytes = firstOf(statistics, ['vramUsedBytes', 'In use system memory']);
    if (utilization !== null) measured[`gpu.${index}.util`] = Math.min(100, utilization);
    if (usedBytes !== null) measured[`gpu.${index}.mem_used_mb`] = Math.round(usedBytes / 2 ** 20);
    measured[`gpu.${index}.mem_total_mb`] = numberOf(entry, 'VRAM,totalMB') ?? hostMemoryMb;
  }
  return measured;
}

/** `model` is text, or the bytes of a text in older versions. */
function modelOf({ entry }: Accelerator): string {
  const { model, IOClass } = entry;
  const text = Buffer.isBuffer(model) ? model.toString('utf8') : model;
  const name = typeof text === 'string' ? text.replaceAll('\0', '').trim() : '';
  if (name !== '') return name;
  return typeof IOClass === 'string' ? IOClass : 'GPU';
}

function firstOf(dict: PlistDict, keys: readonly string[]): number | null {
  return keys.map((key) => numberOf(dict, key)).find((value) => value !== null) ?? null;
}

function numberOf(dict: PlistDict, key: string): number | null {
  const value = dict[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function isDict(value: unknown): value is PlistDict {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}
