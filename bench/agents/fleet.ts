import { FakeAgent } from '@svc/agent/testing';
import type { Hello } from '@svc/contract';

/** The rates of the specification, in ms. */
const HEARTBEAT_MS = 25_000;
const SAMPLE_MS = 2_000;
const UPLOAD_MS = 5_000;
const HOST_METRICS = [
  'cpu.util',
  'ram.used_mb',
  'ram.total_mb',
  'disk.used_gb',
  'disk.free_gb',
  'disk.total_gb',
  'net.rx_bps',
  'net.tx_bps',
];
const GPU_METRICS = [
  'util',
  'mem_used_mb',
  'mem_total_mb',
  'temp_c',
  'power_w',
  'sm_clock_mhz',
  'mem_clock_mhz',
];

export interface Fleet {
  readonly connected: number;
  /** Frames of metrics sent so far, and the values in them. */
  readonly sent: { frames: number; values: number };
  close(): void;
}

export interface FleetOptions {
  readonly url: string;
  readonly token: string;
  readonly agents: number;
  readonly gpus: number;
}

/** Agents that speak the protocol at the specified rates over a socket each, and run nothing. They say hello spread over one upload interval. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const sent = { frames: 0, values: 0 };
  const members: Member[] = [];
  for (let index = 0; index < options.agents; index++) {
    const member = new Member(index, options, sent);
    members.push(member);
    await member.welcomed;
    await new Promise((resolve) => setTimeout(resolve, UPLOAD_MS / options.agents));
  }
  return {
    sent,
    get connected() {
      return members.filter(({ isOpen }) => isOpen).length;
    },
    close: () => members.forEach((member) => member.close()),
  };
}

class Member {
  readonly welcomed: Promise<void>;
  readonly #agent: FakeAgent;
  readonly #index: number;
  readonly #sent: Fleet['sent'];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #names: readonly string[];
  #sampledAt = Date.now();

  constructor(index: number, { url, token, gpus }: FleetOptions, sent: Fleet['sent']) {
    this.#index = index;
    this.#sent = sent;
    const gpuNames = Array.from({ length: gpus }, (_, gpu) =>
      GPU_METRICS.map((name) => `gpu.${gpu}.${name}`),
    );
    this.#names = [...HOST_METRICS, ...gpuNames.flat()];
    this.#agent = new FakeAgent({ url, token, hello: toHello(index, gpus) });
    this.welcomed = this.#agent.connect().then(() => this.#begin());
  }

  get isOpen(): boolean {
    return this.#agent.closed === null;
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#agent.cut();
  }

  #begin(): void {
    this.#timers.push(
      setInterval(() => this.#agent.send({ type: 'heartbeat', ts: Date.now() }), HEARTBEAT_MS),
      setInterval(() => this.#upload(), UPLOAD_MS),
    );
  }

  #upload(): void {
    const ts: number[] = [];
    for (; this.#sampledAt + SAMPLE_MS <= Date.now(); ts.push(this.#sampledAt)) this.#sampledAt += SAMPLE_MS;
    const column = (place: number) => ts.map((at) => toValue(this.#index, place, at));
    const values = Object.fromEntries(this.#names.map((name, place) => [name, column(place)]));
    this.#sent.frames += 1;
    this.#sent.values += ts.length * this.#names.length;
    this.#agent.send({ type: 'node_metrics', ts, values, processes: [] });
    // Acknowledgements are of no interest here, and would add up.
    this.#agent.frames.length = 0;
  }
}

/** A third of the metrics stands still, as totals and clocks do; the others move as measured figures do. */
function toValue(agent: number, place: number, at: number): number {
  if (place % 3 === 2) return 81_559 + place;
  return Math.round(10 * (50 + 40 * Math.sin(at / 60_000 + agent + place) + 10 * Math.random())) / 10;
}

function toHello(index: number, gpus: number): Partial<Hello> {
  const name = `sim-${String(index).padStart(3, '0')}`;
  const slots = Array.from({ length: gpus }, (_, gpu) => ({
    index: gpu,
    uuid: `${name}-${gpu}`,
    model: 'simulated',
    memory_total_mb: 81_559,
    virtual: true,
  }));
  const system = { cpu_count: 64, ram_total_mb: 1_000_000 };
  return { name, hostname: name, boot_id: name, slots, max_cpu_jobs: 0, system };
}
