import type { SlowAnswer } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import type { GpuProcess, SlotSpec } from '@svc/contract';
import type { AmdTool, OwnerOf } from './amd-tool.js';
import { askForJson, isObject, mibOf, numberOf, textOf, toMeasured, type JsonObject } from './json-answer.js';

const METRICS = ['metric', '--usage', '--power', '--clock', '--temperature', '--mem-usage'];

/** amd-smi, the program of ROCm 6 and later. */
export function createAmdSmi(program: string, ownerOf: OwnerOf): AmdTool {
  /** The index of a job's GPU by the number that amd-smi gives it. */
  let indices: ReadonlyMap<number, number> = new Map();
  const ask = (args: readonly string[], signal: AbortSignal) => askForJson(program, args, signal);
  return {
    async discover(signal) {
      const listed = await listGpus(ask, signal);
      indices = toIndices(listed);
      return toSlots(listed, await ask(['static', '--asic', '--vram'], signal), indices);
    },
    async ask(wanted, signal): Promise<SlowAnswer> {
      const own = new Map([...indices].filter(([, index]) => wanted.has(index)));
      const measured = toFigures(await ask(METRICS, signal), own);
      const processes = await ask(['process'], signal).catch(() => []);
      return { measured, processes: toProcesses(processes, own, ownerOf) };
    },
  };
}

type Ask = (args: readonly string[], signal: AbortSignal) => Promise<unknown>;

/** `-e` tells the numbers that HIP gives to the GPUs. Older versions do not know it. */
async function listGpus(ask: Ask, signal: AbortSignal): Promise<unknown> {
  try {
    return await ask(['list', '-e'], signal);
  } catch (error) {
    if (isMissing(error) || signal.aborted) throw error;
    return ask(['list'], signal);
  }
}

/** An answer is an array of GPUs, or since ROCm 6.4 an object with one. */
function gpusOf(answer: unknown): JsonObject[] {
  const gpus = isObject(answer) ? answer['gpu_data'] : answer;
  return Array.isArray(gpus) ? gpus.filter((gpu) => isObject(gpu) && numberOf(gpu['gpu']) !== null) : [];
}

const idOf = (gpu: JsonObject) => numberOf(gpu['gpu']) as number;

/**
 * Jobs choose GPUs by the numbers that HIP gives them, which differ from those of amd-smi on some hosts. HIP gives none to a GPU that it cannot use, as the
 * one in the processor; it is left out. Where HIP's numbers cannot be told, those of amd-smi stand for them.
 */
export function toIndices(listed: unknown): Map<number, number> {
  const gpus = gpusOf(listed).map((gpu) => [idOf(gpu), numberOf(gpu['hip_id'])] as const);
  const ofHip = gpus.filter((gpu): gpu is readonly [number, number] => gpu[1] !== null);
  return new Map(ofHip.length > 0 ? ofHip : gpus.map(([id]) => [id, id]));
}

export function toSlots(
  listed: unknown,
  described: unknown,
  indices: ReadonlyMap<number, number>,
): SlotSpec[] {
  const descriptions = new Map(gpusOf(described).map((gpu) => [idOf(gpu), gpu]));
  const slots = gpusOf(listed).flatMap((gpu): SlotSpec[] => {
    const index = indices.get(idOf(gpu));
    if (index === undefined) return [];
    const { asic, vram } = descriptions.get(idOf(gpu)) ?? {};
    return [
      {
        index,
        uuid: textOf(gpu['uuid']) ?? textOf(gpu['bdf']) ?? `amd-${idOf(gpu)}`,
        model: (isObject(asic) ? textOf(asic['market_name']) : null) ?? 'AMD GPU',
        memory_total_mb: isObject(vram) ? mibOf(vram['size'], 'MB') : null,
        virtual: false,
      },
    ];
  });
  return slots.sort((a, b) => a.index - b.index);
}

export function toFigures(answer: unknown, indices: ReadonlyMap<number, number>): Record<string, number> {
  const figures = gpusOf(answer).map((gpu) => {
    const index = indices.get(idOf(gpu));
    return index === undefined ? {} : toMeasured(index, figuresOf(gpu));
  });
  return Object.assign({}, ...figures) as Record<string, number>;
}

function figuresOf(gpu: JsonObject): Record<string, number | null> {
  const [usage, power, temperature, memory] = ['usage', 'power', 'temperature', 'mem_usage'].map((part) =>
    isObject(gpu[part]) ? gpu[part] : {},
  ) as [JsonObject, JsonObject, JsonObject, JsonObject];
  return {
    util: numberOf(usage['gfx_activity']),
    mem_used_mb: mibOf(memory['used_vram'], 'MB'),
    mem_total_mb: mibOf(memory['total_vram'], 'MB'),
    // The GPUs of accelerators have no sensor at their edge.
    temp_c: numberOf(temperature['edge']) ?? numberOf(temperature['hotspot']),
    power_w: numberOf(power['socket_power']),
    sm_clock_mhz: clockOf(gpu['clock'], 'gfx_0'),
    mem_clock_mhz: clockOf(gpu['clock'], 'mem_0'),
  };
}

function clockOf(clocks: unknown, name: string): number | null {
  const clock = isObject(clocks) ? clocks[name] : null;
  return isObject(clock) ? numberOf(clock['clk']) : null;
}

/** A GPU without processes has a sentence in their place. */
export function toProcesses(
  answer: unknown,
  indices: ReadonlyMap<number, number>,
  ownerOf: OwnerOf,
): GpuProcess[] {
  return gpusOf(answer).flatMap((gpu) => {
    const index = indices.get(idOf(gpu));
    const listed = gpu['process_list'];
    if (index === undefined || !Array.isArray(listed)) return [];
    return listed.flatMap((entry): GpuProcess[] => {
      const info = isObject(entry) ? (entry['process_info'] ?? entry) : null;
      const pid = isObject(info) ? numberOf(info['pid']) : null;
      if (!isObject(info) || pid === null) return [];
      const name = textOf(info['name']) ?? 'unknown';
      const { user, job = null } = ownerOf(pid);
      return [{ gpu: index, pid, name, mem_mb: memoryOf(info), user, job_id: job }];
    });
  });
}

/** `mem_usage` is the whole of the process, where `vram_mem` is its share of the GPU's memory. */
function memoryOf(info: JsonObject): number {
  const usage = info['memory_usage'];
  return (isObject(usage) ? mibOf(usage['vram_mem'], 'B') : null) ?? mibOf(info['mem_usage'], 'B') ?? 0;
}
