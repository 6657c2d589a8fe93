import type { SlowAnswer } from '@svc/agent';
import type { GpuProcess, SlotSpec } from '@svc/contract';
import type { AmdTool, OwnerOf } from './amd-tool.js';
import { askForJson, isObject, mibOf, numberOf, textOf, toMeasured, type JsonObject } from './json-answer.js';

const DESCRIBE = ['--showproductname', '--showuniqueid', '--showbus', '--showmeminfo', 'vram'];
const MEASURE = [
  '--showuse',
  '--showmeminfo',
  'vram',
  '--showtemp',
  '--showpower',
  '--showclocks',
  '--showpids',
];

/** rocm-smi, the program of ROCm 5 and before, which later versions have too. */
export function createRocmSmi(program: string, ownerOf: OwnerOf): AmdTool {
  return {
    discover: async (signal) => toSlots(await askForJson(program, DESCRIBE, signal)),
    async ask(wanted, signal): Promise<SlowAnswer> {
      const answer = await askForJson(program, MEASURE, signal);
      return { measured: toFigures(answer, wanted), processes: toProcesses(answer, ownerOf) };
    },
  };
}

/** `{"card0": {...}, "card1": {...}, "system": {...}}` */
function cardsOf(answer: unknown): [index: number, card: Card][] {
  return Object.entries(isObject(answer) ? answer : {}).flatMap(([name, card]) => {
    const index = /^card(\d+)$/.exec(name)?.[1];
    return index === undefined || !isObject(card) ? [] : [[Number(index), new Card(card)]];
  });
}

/** The keys of a card are sentences, whose capitals differ between versions. */
class Card {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(card: JsonObject) {
    this.#values = new Map(Object.entries(card).map(([key, value]) => [key.toLowerCase(), value]));
  }

  /** The first of these keys that has a value. */
  value(...keys: string[]): unknown {
    return keys.map((key) => this.#values.get(key)).find((value) => textOf(value) !== null);
  }
}

export function toSlots(answer: unknown): SlotSpec[] {
  return cardsOf(answer).map(([index, card]) => ({
    index,
    uuid: textOf(card.value('unique id', 'pci bus')) ?? `amd-${index}`,
    model: textOf(card.value('card series', 'card model')) ?? 'AMD GPU',
    memory_total_mb: mibOf(card.value('vram total memory (b)'), 'B'),
    virtual: false,
  }));
}

export function toFigures(answer: unknown, wanted: ReadonlySet<number>): Record<string, number> {
  const cards = cardsOf(answer).filter(([index]) => wanted.has(index));
  const figures = cards.map(([index, card]) =>
    toMeasured(index, {
      util: numberOf(card.value('gpu use (%)')),
      mem_used_mb: mibOf(card.value('vram total used memory (b)'), 'B'),
      mem_total_mb: mibOf(card.value('vram total memory (b)'), 'B'),
      temp_c: numberOf(card.value('temperature (sensor edge) (c)', 'temperature (sensor junction) (c)')),
      power_w: numberOf(
        card.value('average graphics package power (w)', 'current socket graphics package power (w)'),
      ),
      sm_clock_mhz: numberOf(card.value('sclk clock speed:')),
      mem_clock_mhz: numberOf(card.value('mclk clock speed:')),
    }),
  );
  return Object.assign({}, ...figures) as Record<string, number>;
}

/** `"PID4242": "python3, 1, 2353860608, 0, 0"`: the name, on how many GPUs, bytes. On which is not said, so it is known with one card alone. */
export function toProcesses(answer: unknown, ownerOf: OwnerOf): GpuProcess[] {
  const system = isObject(answer) ? answer['system'] : null;
  const [only, ...others] = cardsOf(answer);
  if (only === undefined || others.length > 0 || !isObject(system)) return [];
  return Object.entries(system).flatMap(([key, value]): GpuProcess[] => {
    const pid = Number(/^PID ?(\d+)$/.exec(key)?.[1] ?? NaN);
    const [, name = '', gpus, bytes] = /^(.*), (\d+), (\d+), [^,]*, [^,]*$/.exec(textOf(value) ?? '') ?? [];
    if (Number.isNaN(pid) || gpus === undefined || gpus === '0') return [];
    const { user, job = null } = ownerOf(pid);
    return [{ gpu: only[0], pid, name, mem_mb: mibOf(bytes, 'B') ?? 0, user, job_id: job }];
  });
}
