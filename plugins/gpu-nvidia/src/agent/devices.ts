import { isMissing, writeAtomic } from '@svc/agent/durable-file';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { MigName, SmiGpu, SmiLog, SmiMigDevice } from './smi-log.js';

/** What a slot stands for: a GPU, or a MIG device of one. */
export interface Device {
  readonly uuid: string;
  /** Of its GPU. */
  readonly address: string;
  readonly model: string;
  readonly totalMb: number | null;
  /** Its GPU as it is now; null: nvidia-smi does not name it any more. */
  readonly gpu: SmiGpu | null;
  /** The part of the GPU that it is; null: all of it. */
  readonly mig: SmiMigDevice | null;
  /** Of its GPU among those of the host, as nvidia-smi counts them. */
  readonly place: number | null;
}

type Known = Pick<Device, 'uuid' | 'address' | 'model' | 'totalMb'> & { readonly index: number };

interface Saved {
  readonly boot_id: string;
  readonly devices: readonly Known[];
}

/**
 * The devices of this host by slot. Must hold: a device keeps its index for as long as the host runs, also when another one has gone and over a
 * restart of the agent, for jobs hold slots by index. A GPU that is gone stays until the host boots again; a MIG device goes when its GPU does
 * not name it any more.
 */
export class Devices {
  readonly #file: string;
  readonly #bootId: string;
  #known: readonly Known[] = [];
  #saved = '';
  #writing: Promise<void> = Promise.resolve();

  constructor(dir: string, bootId: string) {
    this.#file = path.join(dir, 'devices.json');
    this.#bootId = bootId;
  }

  /** Those that an earlier agent has noted in this boot. */
  async load(): Promise<void> {
    try {
      const saved = JSON.parse(await readFile(this.#file, 'utf8')) as Saved;
      if (saved.boot_id === this.#bootId) this.#known = saved.devices;
    } catch (error) {
      if (!isMissing(error) && !(error instanceof SyntaxError)) throw error;
    }
  }

  /** As they are when nvidia-smi says nothing. */
  get known(): ReadonlyMap<number, Device> {
    return new Map(this.#known.map((known) => [known.index, toGone(known)]));
  }

  /** The devices by index, as this answer has them. */
  see(log: SmiLog, names: readonly MigName[]): ReadonlyMap<number, Device> {
    const found = log.gpus.flatMap((gpu, place) => this.#devicesOf(gpu, place, names));
    const gone = this.#known.filter(({ uuid, address }) => isGone(uuid, address, found, log));
    const taken = new Map(gone.map((known) => [known.index, toGone(known)]));
    const indices = new Map(this.#known.map(({ uuid, index }) => [uuid, index]));
    const isNew = ({ uuid }: Device) => !indices.has(uuid);
    for (const device of found) if (!isNew(device)) taken.set(indices.get(device.uuid)!, device);
    for (const device of found.filter(isNew)) taken.set(firstFree(taken), device);
    const devices = new Map([...taken].sort(([a], [b]) => a - b));
    this.#note(devices);
    return devices;
  }

  /** Resolves when what is known is on the disk. */
  saved(): Promise<void> {
    return this.#writing;
  }

  #devicesOf(gpu: SmiGpu, place: number, names: readonly MigName[]): Device[] {
    const { address, model } = gpu;
    const known = this.#known.find((each) => each.address === address && each.uuid.startsWith('GPU-'));
    const uuid = gpu.uuid ?? known?.uuid ?? null;
    if (uuid === null) return [];
    if (!gpu.isMig)
      return [
        {
          uuid,
          address,
          model: known?.uuid === uuid && gpu.uuid === null ? known.model : model,
          totalMb: gpu.totalMb ?? known?.totalMb ?? null,
          gpu,
          mig: null,
          place,
        },
      ];
    return gpu.migDevices.flatMap((mig) => {
      const name = names.find((each) => each.gpu === uuid && each.index === mig.index);
      return name
        ? [
            {
              uuid: name.uuid,
              address,
              model: `${model} ${name.profile}`,
              totalMb: mig.totalMb,
              gpu,
              mig,
              place,
            },
          ]
        : [];
    });
  }

  #note(devices: ReadonlyMap<number, Device>): void {
    this.#known = [...devices].map(([index, { uuid, address, model, totalMb }]) => ({
      index,
      uuid,
      address,
      model,
      totalMb,
    }));
    const saved: Saved = { boot_id: this.#bootId, devices: this.#known };
    const text = JSON.stringify(saved);
    if (text === this.#saved) return;
    this.#saved = text;
    this.#writing = this.#writing
      .then(() => mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 }))
      .then(() => writeAtomic(this.#file, saved))
      // It is written again with the next change; until then an agent that starts numbers the devices as nvidia-smi does.
      .catch(() => void (this.#saved = ''));
  }
}

/** A GPU that is not named, or a MIG device whose GPU is not. */
function isGone(uuid: string, address: string, found: readonly Device[], { gpus }: SmiLog): boolean {
  return !found.some((device) => device.uuid === uuid) && !gpus.some((gpu) => gpu.address === address);
}

function toGone({ uuid, address, model, totalMb }: Known): Device {
  return { uuid, address, model, totalMb, gpu: null, mig: null, place: null };
}

function firstFree(taken: ReadonlyMap<number, unknown>): number {
  let index = 0;
  while (taken.has(index)) index += 1;
  return index;
}

/** Whether the slots mean the GPUs that CUDA counts too: one for each, none missing, in the same order. */
export function areCountedAsByCuda(devices: ReadonlyMap<number, Device>): boolean {
  return [...devices].every(([index, { mig, place }]) => mig === null && place === index);
}
