import type { AgentFrame, MAX_FRAME_SAMPLES, NodeMetricsFrame } from '@svc/contract';
import type { GpuMeter } from './gpu-meter.js';
import { HostMeter, type Measured } from './host-metrics.js';

export const SAMPLE_INTERVAL_MS = 2_000;
const UPLOAD_INTERVAL_MS = 5_000;
const FRAME_SAMPLES: typeof MAX_FRAME_SAMPLES = 300;
/** An hour: so long a server may be away before the oldest are given up. */
const MAX_KEPT_SAMPLES = 1800;

interface Sample {
  readonly ts: number;
  readonly measured: Measured;
}

export interface TelemetryOptions {
  readonly stateDir: string;
  /** null: this host has none that could be measured. */
  readonly gpus: GpuMeter | null;
  send(frame: AgentFrame): void;
  isOnline(): boolean;
}

/**
 * Measures the host every 2 s and sends what it has every 5 s. Samples are kept in memory until the server has stored them; on a
 * new connection those that it has not are sent again.
 */
export class Telemetry {
  readonly #host: HostMeter;
  readonly #timers: NodeJS.Timeout[] = [];
  #samples: Sample[] = [];
  /** How many of the samples have been sent on this connection. */
  #sentCount = 0;

  constructor(private readonly options: TelemetryOptions) {
    this.#host = new HostMeter(options.stateDir);
  }

  start(): void {
    this.options.gpus?.start();
    this.#timers.push(
      setInterval(() => void this.measure(), SAMPLE_INTERVAL_MS).unref(),
      setInterval(() => this.upload(), UPLOAD_INTERVAL_MS).unref(),
    );
    void this.measure();
  }

  /** A new connection: what was sent on the last one may not have arrived. */
  welcomed(): void {
    this.#sentCount = 0;
  }

  /** Everything up to then is stored. */
  stored(ts: number): void {
    const count = this.#samples.findIndex((sample) => sample.ts > ts);
    this.#drop(count < 0 ? this.#samples.length : count);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.options.gpus?.close();
  }

  /** Takes one sample. */
  async measure(): Promise<void> {
    const measured = { ...(await this.#host.measure()), ...this.options.gpus?.latest() };
    this.#samples.push({ ts: this.#now(), measured });
    if (this.#samples.length > MAX_KEPT_SAMPLES) this.#drop(this.#samples.length - MAX_KEPT_SAMPLES);
  }

  /** Rises strictly, also when the clock of the host is set back. */
  #now(): number {
    return Math.max(Date.now(), (this.#samples.at(-1)?.ts ?? 0) + 1);
  }

  /** Sends what this connection has not been sent, as far as it fits into a frame. */
  upload(): void {
    const unsent = this.#samples.slice(this.#sentCount, this.#sentCount + FRAME_SAMPLES);
    if (unsent.length === 0 || !this.options.isOnline()) return;
    this.#sentCount += unsent.length;
    this.options.send(toFrame(unsent, this.options.gpus));
  }

  #drop(count: number): void {
    this.#samples = this.#samples.slice(count);
    this.#sentCount = Math.max(0, this.#sentCount - count);
  }
}

function toFrame(samples: readonly Sample[], gpus: GpuMeter | null): NodeMetricsFrame {
  const names = [...new Set(samples.flatMap(({ measured }) => Object.keys(measured)))];
  const column = (name: string) => samples.map(({ measured }) => measured[name] ?? null);
  return {
    type: 'node_metrics',
    ts: samples.map(({ ts }) => ts),
    values: Object.fromEntries(names.map((name) => [name, column(name)])),
    processes: [...(gpus?.processes() ?? [])],
  };
}
