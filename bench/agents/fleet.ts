import { AGENT_PROTOCOL, newId, type AgentFrame, type Hello, type NodeMetricsFrame } from '@svc/contract';
import { WebSocket } from 'ws';

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
  readonly #socket: WebSocket;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #names: readonly string[];
  #sampledAt = Date.now();

  constructor(
    private readonly index: number,
    { url, token, gpus }: FleetOptions,
    private readonly sent: Fleet['sent'],
  ) {
    const gpuNames = Array.from({ length: gpus }, (_, gpu) =>
      GPU_METRICS.map((name) => `gpu.${gpu}.${name}`),
    );
    this.#names = [...HOST_METRICS, ...gpuNames.flat()];
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agent/ws`, {
      headers: { Authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    this.#socket.on('open', () => this.#send(toHello(index, gpus)));
    this.welcomed = new Promise((resolve, reject) => {
      this.#socket.once('message', () => resolve(this.#begin()));
      this.#socket.once('error', reject);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#socket.terminate();
  }

  #begin(): void {
    this.#timers.push(
      setInterval(() => this.#send({ type: 'heartbeat', ts: Date.now() }), HEARTBEAT_MS),
      setInterval(() => this.#upload(), UPLOAD_MS),
    );
  }

  #upload(): void {
    const ts: number[] = [];
    for (; this.#sampledAt + SAMPLE_MS <= Date.now(); ts.push(this.#sampledAt)) this.#sampledAt += SAMPLE_MS;
    const column = (place: number) => ts.map((at) => toValue(this.index, place, at));
    const values = Object.fromEntries(this.#names.map((name, place) => [name, column(place)]));
    const frame: NodeMetricsFrame = { type: 'node_metrics', ts, values, processes: [] };
    this.sent.frames += 1;
    this.sent.values += ts.length * this.#names.length;
    this.#send(frame);
  }

  #send(frame: AgentFrame): void {
    this.#socket.send(JSON.stringify(frame));
  }
}

/** A third of the metrics stands still, as totals and clocks do; the others move as measured figures do. */
function toValue(agent: number, place: number, at: number): number {
  if (place % 3 === 2) return 81_559 + place;
  return Math.round(10 * (50 + 40 * Math.sin(at / 60_000 + agent + place) + 10 * Math.random())) / 10;
}

function toHello(index: number, gpus: number): Hello {
  const name = `sim-${String(index).padStart(3, '0')}`;
  const slots = Array.from({ length: gpus }, (_, gpu) => ({
    index: gpu,
    uuid: `${name}-${gpu}`,
    model: 'simulated',
    memory_total_mb: 81_559,
    virtual: true,
  }));
  return {
    type: 'hello',
    protocol: AGENT_PROTOCOL,
    node_id: newId('node'),
    node_secret: null,
    name,
    hostname: name,
    version: '0.1.0',
    boot_id: name,
    labels: {},
    slots,
    max_cpu_jobs: 0,
    runners: [{ name: 'process', available: true, reason: null, version: null }],
    system: { cpu_count: 64, ram_total_mb: 1_000_000 },
    attempts: [],
  };
}
