import type { AgentFrame, NodeMetricsAck, NodeMetricsFrame, SlotSpec } from '@svc/contract';
import { MAX_FRAME_SAMPLES } from '@svc/contract/protocol';
import path from 'node:path';
import { SAMPLE_INTERVAL_MS, type HostCollector } from '../core/collector.js';
import type { AgentLog } from '../core/log.js';
import { HostCollectors } from './host-collectors.js';
import { createHostMeters } from './host-meters.js';
import { TelemetrySpool, type Sample } from './telemetry-spool.js';

const UPLOAD_INTERVAL_MS = 5_000;
/** One late frame in so long: a day goes in five minutes, and all agents together leave the server room. */
const REPLAY_INTERVAL_MS = 2_000;
/** A server that stores nothing now, as one whose disk is full, is asked again. */
const REPEAT_AFTER_MS = 60_000;
/** A quarter of an hour, more than a server that stores needs: what is older goes to the disk. */
const MAX_WAITING_SAMPLES = 450;
/** An hour: so much stays in memory where the disk takes nothing. */
const MAX_KEPT_SAMPLES = 1800;

export interface TelemetryOptions {
  readonly nodeId: string;
  readonly stateDir: string;
  /** Measure beside what every host has. */
  readonly collectors: readonly HostCollector[];
  readonly log: AgentLog;
  /** Whose disks are measured beside that of the state directory: the working directories of the attempts that run, and what else matters. */
  dirs(): readonly string[];
  /** Left out: 32 MiB. */
  readonly spoolMaxBytes?: number;
  send(frame: AgentFrame): void;
  isOnline(): boolean;
}

/** A late frame that the server has not confirmed yet. */
interface Replayed {
  readonly number: number;
  readonly ts: number;
  readonly sentAt: number;
}

/**
 * Measures the host every 2 s and sends what it has every 5 s. Samples are kept in memory until the server has stored them; while it
 * is away they go to the disk, and from there in late frames once it is back, beside those of the present. Must hold: no sample is
 * sent as one of the present that is, or may be, on the disk.
 */
export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #collectors: HostCollectors;
  readonly #spool: TelemetrySpool;
  readonly #timers: NodeJS.Timeout[] = [];
  #samples: Sample[] = [];
  #measuredTo = 0;
  /** What was measured up to then has been sent on this connection. */
  #sentTo = -Infinity;
  /** What was measured up to then is on its way to the disk. */
  #leavingTo = -Infinity;
  #leaving: Promise<void> = Promise.resolve();
  #replayed: Replayed | null = null;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    const { nodeId, stateDir, collectors, log, spoolMaxBytes } = options;
    const ofEveryHost = createHostMeters(nodeId, stateDir, () => options.dirs(), log);
    this.#collectors = new HostCollectors([...ofEveryHost, ...collectors], log);
    this.#spool = new TelemetrySpool(path.join(stateDir, 'telemetry'), log, spoolMaxBytes);
  }

  start(slots: readonly SlotSpec[]): void {
    this.#collectors.start(slots);
    this.#timers.push(
      setInterval(() => void this.measure(), SAMPLE_INTERVAL_MS).unref(),
      setInterval(() => void this.upload(), UPLOAD_INTERVAL_MS).unref(),
      setInterval(() => void this.replay(), REPLAY_INTERVAL_MS).unref(),
    );
    void this.measure();
  }

  /** A new connection: what was sent on the last one may not have arrived. */
  welcomed(): void {
    this.#sentTo = -Infinity;
    this.#replayed = null;
  }

  /** Resolves when what the server has is not kept any more. */
  async stored({ ts, late }: Omit<NodeMetricsAck, 'type'>): Promise<void> {
    if (late !== true) return this.#dropTo(ts);
    const replayed = this.#replayed;
    if (replayed?.ts !== ts) return;
    await this.#spool.remove(replayed.number);
    if (this.#replayed === replayed) this.#replayed = null;
  }

  /** What the server has not stored goes to the disk, for the next agent. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#collectors.close();
    await this.#leaving;
    await this.#setAside(this.#samples);
  }

  /** Takes one sample. */
  async measure(): Promise<void> {
    const measured = await this.#collectors.measure();
    this.#samples.push({ ts: this.#now(), measured });
    this.#samples = this.#samples.slice(-MAX_KEPT_SAMPLES);
  }

  /** Rises strictly, also when the clock of the host is set back. */
  #now(): number {
    return (this.#measuredTo = Math.max(Date.now(), this.#measuredTo + 1));
  }

  /** Sends what this connection has not been sent, as far as it fits into a frame. What need not wait in memory goes to the disk. */
  async upload(): Promise<void> {
    const isOnline = this.#options.isOnline();
    if (isOnline) this.#sendLive();
    const waiting = isOnline ? this.#samples.slice(0, -MAX_WAITING_SAMPLES) : this.#samples;
    if (this.#leavingTo === -Infinity) await (this.#leaving = this.#setAside(waiting));
  }

  /** Sends the oldest of what is on the disk, one frame at a time. */
  async replay(): Promise<void> {
    const isDue = this.#replayed === null || performance.now() - this.#replayed.sentAt > REPEAT_AFTER_MS;
    if (!this.#options.isOnline() || !isDue) return;
    const segment = await this.#spool.oldest();
    const ts = segment?.samples.at(-1)?.ts;
    if (segment === null || ts === undefined || !this.#options.isOnline()) return;
    // What a failing disk took of them goes as one of the present first: only late samples are looked up by the server.
    if ((this.#unsent()[0]?.ts ?? Infinity) <= ts) return;
    this.#replayed = { number: segment.number, ts, sentAt: performance.now() };
    this.#options.send({ ...toFrame(segment.samples), processes: [], late: true });
  }

  #sendLive(): void {
    const unsent = this.#unsent().slice(0, MAX_FRAME_SAMPLES);
    const last = unsent.at(-1);
    if (last === undefined) return;
    this.#sentTo = last.ts;
    const [processes, host_processes] = [this.#collectors.processes(), this.#collectors.hostProcesses()];
    this.#options.send({ ...toFrame(unsent), processes, host_processes });
  }

  #unsent(): Sample[] {
    const doneTo = Math.max(this.#sentTo, this.#leavingTo);
    return this.#samples.filter(({ ts }) => ts > doneTo);
  }

  async #setAside(samples: readonly Sample[]): Promise<void> {
    const last = samples.at(-1);
    if (last === undefined) return;
    this.#leavingTo = last.ts;
    const isKept = await this.#spool.append(samples);
    if (isKept) this.#dropTo(last.ts);
    this.#leavingTo = -Infinity;
  }

  #dropTo(last: number): void {
    this.#samples = this.#samples.filter(({ ts }) => ts > last);
  }
}

function toFrame(samples: readonly Sample[]): Omit<NodeMetricsFrame, 'processes' | 'host_processes'> {
  const names = [...new Set(samples.flatMap(({ measured }) => Object.keys(measured)))];
  const column = (name: string) => samples.map(({ measured }) => measured[name] ?? null);
  return {
    type: 'node_metrics',
    ts: samples.map(({ ts }) => ts),
    values: Object.fromEntries(names.map((name) => [name, column(name)])),
  };
}
