import { toReason, type AgentLog, type HostSlot, type Measured, type ProcessOwners } from '@svc/agent';
import type { AttemptKey, GpuProcess, SlotHealth } from '@svc/contract';
import { execFile } from 'node:child_process';
import { areCountedAsByCuda, type Device, type Devices } from './devices.js';
import type { Settings } from './options.js';
import { SmiLoop, type SmiListener } from './smi-loop.js';
import { parseMigNames, type MigName, type SmiLog, type SmiProcess } from './smi-log.js';
import { judge, type SeenProcess, type Verdict } from './verdict.js';

/** So long the first answer may take; the agent then starts without it. */
const FIRST_ANSWER_MS = 15_000;
const LIST_TIMEOUT_MS = 15_000;

/** What the last answer says of one slot. */
interface Seen {
  readonly device: Device;
  readonly processes: readonly SeenProcess[];
}

/** Who held a slot last, until it is proven to be gone from it. */
interface Left {
  readonly job: string;
  readonly at: number;
}

interface Told extends Verdict {
  readonly since: number;
}

/** The NVIDIA GPUs of this host: which slots there are, how they do, and who is on them. */
export class GpuWatch implements SmiListener {
  readonly #settings: Settings;
  readonly #devices: Devices;
  readonly #owners: ProcessOwners;
  readonly #log: AgentLog;
  readonly #now: () => number;
  readonly #loop: SmiLoop;
  #seen: ReadonlyMap<number, Seen> = new Map();
  /** Why nvidia-smi says nothing now; null: it has answered. */
  #silence: string | null = 'cannot be seen: nvidia-smi has not answered yet';
  #answeredAt = -Infinity;
  #facts: Readonly<Record<string, string>> = {};
  #migNames: readonly MigName[] = [];
  #migAsked = '';
  #isAskingMig = false;
  readonly #holders = new Map<number, AttemptKey>();
  readonly #left = new Map<number, Left>();
  readonly #told = new Map<number, Told>();
  #toldText = '';
  #onChange: ((slots: readonly HostSlot[]) => void) | null = null;
  /** Resolved at each answer, and when there will be none. */
  #waiting: (() => void)[] = [];
  #isMissing = false;

  constructor(
    settings: Settings,
    parts: { devices: Devices; owners: ProcessOwners; log: AgentLog; now: () => number },
  ) {
    this.#settings = settings;
    this.#devices = parts.devices;
    this.#owners = parts.owners;
    this.#log = parts.log;
    this.#now = parts.now;
    const { nvidiaSmi: program, intervalS, silentS, restartS } = settings;
    const [intervalMs, silentMs, restartMs] = [intervalS, silentS, restartS].map((s) =>
      Math.round(s * 1000),
    ) as [number, number, number];
    this.#loop = new SmiLoop({ program, intervalMs, silentMs, restartMs }, this);
  }

  /** The slots of this host; those of before when nvidia-smi does not answer in time. Throws when nothing is known. */
  async discover(): Promise<readonly HostSlot[]> {
    await this.#devices.load();
    this.#showKnown();
    this.#loop.start();
    await this.#nextWord(FIRST_ANSWER_MS);
    const slots = this.slots();
    if (slots.length === 0 && this.#silence !== null && !this.#isMissing && !isNoDevice(this.#silence))
      throw new Error(`a GPU ${this.#silence}`);
    return slots;
  }

  follow(onChange: (slots: readonly HostSlot[]) => void): void {
    this.#onChange = onChange;
    this.#tell();
  }

  close(): void {
    this.#loop.close();
    this.#wakeAll();
  }

  /** As they are now. */
  slots(): HostSlot[] {
    const devices = new Map([...this.#seen].map(([index, { device }]) => [index, device]));
    const byIndex = areCountedAsByCuda(devices);
    return [...this.#seen].map(([index, { device }]) => {
      const health = this.#healthOf(index);
      return {
        index,
        uuid: device.uuid,
        model: device.model,
        memory_total_mb: device.totalMb,
        virtual: false,
        ...(health.state !== 'ok' && { health }),
        ...(!byIndex && { cudaName: device.uuid }),
      };
    });
  }

  facts(): Readonly<Record<string, string>> {
    return this.#facts;
  }

  /** The figures of each slot, when they are not old. */
  measure(): Measured {
    const isFresh = performance.now() - this.#answeredAt < 3 * this.#settings.intervalS * 1000;
    const measured: Measured = {};
    for (const [index, { device }] of isFresh ? this.#seen : [])
      for (const [name, value] of Object.entries(toFigures(device))) measured[`gpu.${index}.${name}`] = value;
    return measured;
  }

  processes(): GpuProcess[] {
    return [...this.#seen].flatMap(([gpu, { processes }]) =>
      processes.map(({ pid, user, name, memoryMb, job }) => ({
        gpu,
        pid,
        user,
        name,
        mem_mb: memoryMb ?? 0,
        job_id: job ?? null,
      })),
    );
  }

  /** The slots of the GPU at that PCI address, as `toPciAddress` of the kernel log gives it. */
  indicesAt(isAddress: (address: string) => boolean): number[] {
    return [...this.#seen].filter(([, { device }]) => isAddress(device.address)).map(([index]) => index);
  }

  started(key: AttemptKey, indices: readonly number[]): void {
    for (const index of indices) {
      this.#holders.set(index, { job_id: key.job_id, attempt: key.attempt });
      this.#left.delete(index);
    }
    this.#tell();
  }

  /**
   * Resolves when an answer from after the end of the attempt shows its GPUs to be free of it, or when it is told that they are not: they are
   * quarantined then, or unhealthy, until an answer shows that. Does not wait for a nvidia-smi that does not answer.
   */
  async ended({ job_id, attempt }: AttemptKey): Promise<void> {
    const at = performance.now();
    const held = [...this.#holders].filter(
      ([, holder]) => holder.job_id === job_id && holder.attempt === attempt,
    );
    for (const [index] of held) {
      this.#holders.delete(index);
      this.#left.set(index, { job: job_id, at });
    }
    const deadline = at + this.#settings.proofS * 1000;
    const isProven = () => held.every(([index]) => !this.#left.has(index));
    while (!isProven() && this.#silence === null && performance.now() < deadline)
      await this.#nextWord(deadline - performance.now());
    this.#tell();
  }

  onLog(log: SmiLog, beganAt: number): void {
    this.#answeredAt = performance.now();
    this.#silence = log.gpus.length === 0 ? 'cannot be seen: nvidia-smi names no GPU' : null;
    this.#facts = {
      ...(log.driver !== null && { nvidia_driver: log.driver }),
      ...(log.cuda !== null && { cuda: log.cuda }),
    };
    if (this.#asksForMigNames(log, beganAt)) return;
    const devices = this.#devices.see(log, this.#migNames);
    this.#seen = new Map(
      [...devices].map(([index, device]) => [index, { device, processes: this.#processesOf(device) }]),
    );
    this.#settleLeft(beganAt);
    this.#tell();
    this.#wakeAll();
  }

  onTrouble(reason: string): void {
    if (this.#silence !== reason) this.#log.warn('the GPUs cannot be seen', { reason });
    this.#silence = reason;
    if (this.#seen.size === 0) this.#showKnown();
    this.#tell();
    this.#wakeAll();
  }

  /** GPUs that were there once do not go with the program, as a driver that is replaced takes it away for a while. */
  onMissing(): void {
    if (this.#seen.size > 0) return this.onTrouble('cannot be seen: nvidia-smi is not there any more');
    this.#isMissing = true;
    this.#wakeAll();
  }

  #showKnown(): void {
    this.#seen = new Map(
      [...this.#devices.known].map(([index, device]) => [index, { device, processes: [] }]),
    );
  }

  #healthOf(index: number): SlotHealth {
    const { device, processes } = this.#seen.get(index)!;
    const left = this.#left.get(index)?.job ?? null;
    const found = judge(
      {
        trouble: this.#troubleOf(device),
        processes,
        usedMb: device.mig === null ? (device.gpu?.usedMb ?? null) : device.mig.usedMb,
        holder: this.#holders.get(index)?.job_id ?? null,
        leftBy: left,
      },
      this.#settings,
    );
    // Without an answer from after the end nobody knows: it is not given away before.
    const isUnproven = found.state === 'ok' && left !== null;
    return this.#sinceWhen(index, isUnproven ? unproven(left) : found);
  }

  #troubleOf(device: Device): string | null {
    if (this.#silence !== null) return this.#silence;
    if (device.gpu === null) return `is gone: nvidia-smi does not name it any more (${device.address})`;
    return device.gpu.trouble;
  }

  /** The reason and the time stay while nothing that matters has changed. */
  #sinceWhen(index: number, found: Verdict): SlotHealth {
    const before = this.#told.get(index);
    const isSame = before?.kind === found.kind;
    const told = isSame
      ? before
      : { ...found, since: before?.state === found.state ? before.since : this.#now() };
    this.#told.set(index, told);
    const { state, reason, since } = told;
    return state === 'ok' ? { state, reason: null, since: null } : { state, reason, since };
  }

  #settleLeft(beganAt: number): void {
    for (const [index, { at }] of this.#left) {
      if (beganAt < at) continue;
      if (!this.#seen.has(index)) this.#left.delete(index);
      else if (this.#isFreeOf(index)) this.#left.delete(index);
    }
  }

  #isFreeOf(index: number): boolean {
    const { device, processes } = this.#seen.get(index)!;
    if (this.#troubleOf(device) !== null) return false;
    const usedMb = device.mig === null ? (device.gpu?.usedMb ?? null) : device.mig.usedMb;
    const leftBy = this.#left.get(index)!.job;
    return (
      judge({ trouble: null, processes, usedMb, holder: null, leftBy }, this.#settings).state !==
      'quarantined'
    );
  }

  /** Says which slots there are, when that has changed. */
  #tell(): void {
    const slots = this.slots();
    const text = JSON.stringify(slots);
    if (text === this.#toldText) return;
    this.#toldText = text;
    this.#onChange?.(slots);
  }

  #processesOf(device: Device): SeenProcess[] {
    return (device.gpu?.processes ?? [])
      .filter((process) => isOn(process, device))
      .map(({ pid, name, type, memoryMb }) => {
        const { user, job } = this.#owners.ownerOf(pid);
        return { pid, user, name, memoryMb, job, isGraphics: type === 'G' };
      });
  }

  /** True: there are MIG devices whose names are not known yet. Without the names the devices would take the indices of others. */
  #asksForMigNames(log: SmiLog, beganAt: number): boolean {
    const wanted = log.gpus.flatMap(({ uuid, isMig, migDevices }) =>
      isMig ? migDevices.map(({ index, gi, ci }) => `${uuid} ${index} ${gi} ${ci}`) : [],
    );
    if (this.#isAskingMig) return true;
    const asked = wanted.join(',');
    if (asked === this.#migAsked) return false;
    this.#migAsked = asked;
    this.#migNames = [];
    if (asked === '') return false;
    this.#isAskingMig = true;
    execFile(
      this.#settings.nvidiaSmi,
      ['-L'],
      { timeout: LIST_TIMEOUT_MS, killSignal: 'SIGKILL' },
      (error, list) => {
        this.#isAskingMig = false;
        if (error !== null) this.#log.warn('the MIG devices cannot be listed', { reason: toReason(error) });
        this.#migNames = parseMigNames(list);
        // Names that could not be told are asked for once more with the next answer.
        if (this.#migNames.length === 0) this.#migAsked = '';
        else this.onLog(log, beganAt);
      },
    );
    return true;
  }

  /** Resolves with the next answer or trouble, or after that time. */
  async #nextWord(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, withinMs));
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function unproven(job: string): Verdict {
  return {
    state: 'quarantined',
    reason: `has not been proven free yet, since ${job} ended`,
    kind: `quarantined unproven ${job}`,
  };
}

function isNoDevice(silence: string): boolean {
  return /no devices were found|names no GPU/i.test(silence);
}

function isOn({ gi, ci }: SmiProcess, { mig }: Device): boolean {
  return mig === null || (mig.gi === gi && (mig.ci === ci || ci === 'N/A'));
}

/** A MIG device has its own memory, and the temperature, the power and the clocks of its GPU. */
function toFigures({ gpu, mig }: Device): Readonly<Record<string, number>> {
  if (gpu === null) return {};
  if (mig === null) return gpu.figures;
  const memory = { mem_used_mb: mig.usedMb, mem_total_mb: mig.totalMb };
  const told = Object.entries(memory).filter((entry): entry is [string, number] => entry[1] !== null);
  const { util: _, mem_used_mb: __, mem_total_mb: ___, ...shared } = gpu.figures;
  return { ...shared, ...Object.fromEntries(told) };
}
