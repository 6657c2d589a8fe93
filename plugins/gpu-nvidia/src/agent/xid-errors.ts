import { toReason, type AgentLog, type HostCollector, type Measured } from '@svc/agent';
import { KernelLog, messageOfKernel } from '@svc/agent/kernel-log';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** More wait for the next sample: a flood of other messages costs little. */
const MAX_RECORDS = 4_000;
const RECORDS_IN_A_TURN = 100;
/** The same error of the same GPU is reported again after this time. */
const REPEAT_AFTER_MS = 60_000;
/** So many different errors of one GPU wait to be reported. */
const MAX_WAITING = 16;
const MAX_GPUS = 64;
const XID = /^NVRM: Xid \((?:PCI:)?([\da-f]{4,8}:[\da-f]{2}:[\da-f]{2})(?:\.\d)?\): (\d{1,3})\b/i;

interface Gpu {
  /** Oldest first. */
  readonly waiting: number[];
  readonly seenAt: Map<number, number>;
}

/**
 * The errors that the NVIDIA driver reports of a GPU in the kernel log. Each becomes the figure `gpu.<index>.xid` of one sample; several of one
 * GPU come one sample after the other. What was there before the agent started is not reported.
 */
export class XidErrors implements HostCollector {
  readonly name = 'gpu-nvidia-xid';
  readonly of = 'host';
  readonly #gpus = new Map<string, Gpu>();
  #kernel: KernelLog | null = null;
  #isStarted = false;
  #isPresent = false;

  constructor(
    private readonly log: AgentLog,
    /** The slots of the GPU at that PCI address. */
    private readonly indicesAt: (address: string) => readonly number[],
    private readonly file = '/dev/kmsg',
  ) {}

  /** Begins to read, once. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    try {
      this.#kernel = KernelLog.open(this.file);
    } catch (error) {
      const reason = toReason(error);
      this.log.info('Xid errors of GPUs are not seen, as the kernel log cannot be read', { reason });
    }
  }

  async measure(): Promise<Measured> {
    await this.#read();
    const measured: Measured = {};
    for (const [address, { waiting }] of this.#gpus) {
      const indices = this.indicesAt(address);
      const code = indices.length === 0 ? undefined : waiting.shift();
      for (const index of code === undefined ? [] : indices) measured[`gpu.${index}.xid`] = code!;
    }
    return measured;
  }

  close(): void {
    this.#kernel?.close();
    this.#kernel = null;
  }

  async #read(): Promise<void> {
    for (let count = 1; count <= MAX_RECORDS && this.#kernel; count += 1) {
      const record = this.#kernel.next();
      if (record === null) {
        this.#isPresent = true;
        return;
      }
      const xid = this.#isPresent ? toXid(record) : null;
      if (xid) this.#see(xid);
      if (count % RECORDS_IN_A_TURN === 0) await nextTurn();
    }
  }

  #see({ address, code }: Xid): void {
    const gpu = this.#gpus.get(address) ?? { waiting: [], seenAt: new Map<number, number>() };
    if (this.#gpus.size >= MAX_GPUS && !this.#gpus.has(address)) return;
    this.#gpus.set(address, gpu);
    const now = performance.now();
    if (now - (gpu.seenAt.get(code) ?? -Infinity) < REPEAT_AFTER_MS || gpu.waiting.length >= MAX_WAITING)
      return;
    gpu.seenAt.set(code, now);
    gpu.waiting.push(code);
  }
}

interface Xid {
  /** As `toPciAddress` gives it. */
  readonly address: string;
  readonly code: number;
}

/** Of `NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.` as the kernel writes it; null for all else. */
export function toXid(record: string): Xid | null {
  const [, place, code] = XID.exec(messageOfKernel(record) ?? '') ?? [];
  const address = place === undefined ? null : toPciAddress(place);
  return address === null ? null : { address, code: Number(code) };
}

/** `0:3b:00` of `0000:3b:00`, as the kernel writes it, and of `00000000:3B:00.0`, as nvidia-smi does; null for all else. */
export function toPciAddress(text: string): string | null {
  const [, domain = '', place = ''] =
    /^([\da-f]{4,8}):([\da-f]{2}:[\da-f]{2})(?:\.\d)?$/.exec(text.toLowerCase()) ?? [];
  return place === '' ? null : `${Number.parseInt(domain, 16).toString(16)}:${place}`;
}
