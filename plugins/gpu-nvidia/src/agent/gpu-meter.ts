import { SAMPLE_INTERVAL_MS, toReason, type AgentLog, type HostCollector, type Measured } from '@svc/agent';
import type { GpuProcess } from '@svc/contract';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { jobOf } from './job-of-process.js';
import { toPciAddress } from './xid-errors.js';

/** Fields of nvidia-smi and the metrics that they become, behind `gpu.<index>.`. */
const FIELDS = [
  ['utilization.gpu', 'util'],
  ['memory.used', 'mem_used_mb'],
  ['memory.total', 'mem_total_mb'],
  ['temperature.gpu', 'temp_c'],
  ['power.draw', 'power_w'],
  ['clocks.sm', 'sm_clock_mhz'],
  ['clocks.mem', 'mem_clock_mhz'],
] as const;
const FORMAT = '--format=csv,noheader,nounits';
/** Asked apart, as a driver that does not know one of them refuses the whole question. */
const HEALTH_QUERIES = [
  'ecc.errors.uncorrected.volatile.total',
  'clocks_throttle_reasons.hw_thermal_slowdown,clocks_throttle_reasons.hw_power_brake_slowdown',
] as const;
const PROCESSES_EVERY_MS = 10_000;
const RESTART_AFTER_MS = 30_000;
const TIMEOUT_MS = 15_000;
/** Older values are not reported. */
const FRESH_MS = 3 * SAMPLE_INTERVAL_MS;
const run = promisify(execFile);

/**
 * Runs one nvidia-smi that prints continuously, as starting it takes longer than measuring. When it ends, such as when the driver is
 * replaced, it is restarted half a minute later.
 */
export class NvidiaMeter implements HostCollector {
  readonly name = 'gpu-nvidia';
  readonly of = 'host';
  readonly #log: AgentLog;
  readonly #program: string;
  readonly #restartAfterMs: number;
  readonly #figures = new Map<string, { readonly measured: Measured; readonly at: number }>();
  /** The index of each GPU by its PCI address. Those of GPUs that are gone stay. */
  readonly #indices = new Map<string, string>();
  #processes: readonly GpuProcess[] = [];
  #health: Measured = {};
  #child: ChildProcess | null = null;
  #lister: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  constructor(log: AgentLog, program = 'nvidia-smi', restartAfterMs = RESTART_AFTER_MS) {
    this.#log = log;
    this.#program = program;
    this.#restartAfterMs = restartAfterMs;
  }
  start(): void {
    this.#watch();
    void this.#listProcesses();
    this.#lister = setInterval(() => {
      void this.#listProcesses();
      void this.#askHealth();
    }, PROCESSES_EVERY_MS);
  }

  /** The newest figures, without old ones. */
  measure(): Measured {
    const since = performance.now() - FRESH_MS;
    const fresh = [...this.#figures.values()].filter(({ at }) => at >= since);
    if (fresh.length === 0) return {};
    return Object.assign({}, this.#health, ...fresh.map(({ measured }) => measured)) as Measured;
  }

  processes(): readonly GpuProcess[] {
    return this.#processes;
  }

  indexAt(address: string): string | undefined {
    return this.#indices.get(address);
  }

  close(): void {
    this.#closing.abort();
    this.#child?.kill();
    clearInterval(this.#lister);
    clearTimeout(this.#restart);
  }

  #watch(): void {
    const query = `--query-gpu=index,${FIELDS.map(([field]) => field).join(',')}`;
    const child = spawn(this.#program, [query, FORMAT, `--loop-ms=${SAMPLE_INTERVAL_MS}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const gpu = parseGpuLine(line);
      if (gpu) this.#figures.set(gpu.index, { measured: gpu.measured, at: performance.now() });
    });
    child.on('error', (error) => this.#log.warn('the GPUs cannot be measured', { reason: toReason(error) }));
    child.on('close', () => {
      if (!this.#closing.signal.aborted)
        this.#restart = setTimeout(() => this.#watch(), this.#restartAfterMs);
    });
  }

  async #listProcesses(): Promise<void> {
    try {
      const [gpus, processes] = await Promise.all([
        this.#ask('--query-gpu=index,uuid,pci.bus_id'),
        this.#ask('--query-compute-apps=gpu_uuid,pid,used_memory,process_name'),
      ]);
      for (const [index, , place = ''] of rows(gpus)) {
        const address = toPciAddress(place);
        if (index !== undefined && address !== null) this.#indices.set(address, index);
      }
      this.#processes = parseProcesses(gpus, processes, jobOf);
    } catch {
      this.#processes = [];
    }
  }

  async #askHealth(): Promise<void> {
    const [errors, throttled] = await Promise.all(
      HEALTH_QUERIES.map((fields) => this.#ask(`--query-gpu=index,${fields}`).catch(() => '')),
    );
    this.#health = { ...parseErrors(errors ?? ''), ...parseThrottled(throttled ?? '') };
  }

  async #ask(query: string): Promise<string> {
    const { signal } = this.#closing;
    return (await run(this.#program, [query, FORMAT], { timeout: TIMEOUT_MS, signal })).stdout;
  }
}

/** `index, util, memory.used, …`; figures that the device does not have (`[N/A]`) are left out. null: no such line. */
export function parseGpuLine(line: string): { index: string; measured: Measured } | null {
  const [index = '', ...figures] = line.split(',').map((field) => field.trim());
  if (!/^\d+$/.test(index)) return null;
  const named = FIELDS.map(
    ([, name], place) => [`gpu.${index}.${name}`, Number(figures[place] || NaN)] as const,
  );
  return { index, measured: Object.fromEntries(named.filter(([, value]) => Number.isFinite(value))) };
}

/** `gpus`: lines of `index, uuid` and more; `processes`: lines of `uuid, pid, memory in MiB, name`, where the name may hold commas. */
export function parseProcesses(
  gpus: string,
  processes: string,
  toJob: (pid: number) => string | null,
): GpuProcess[] {
  const indices = new Map(rows(gpus).map(([index, uuid]) => [uuid, Number(index)]));
  return rows(processes).flatMap(([uuid, pid, memory, ...name]) => {
    const gpu = indices.get(uuid);
    if (gpu === undefined || !/^\d+$/.test(pid ?? '')) return [];
    const mem_mb = Number(memory);
    const job_id = toJob(Number(pid));
    return [
      {
        gpu,
        pid: Number(pid),
        user: null,
        name: name.join(', '),
        mem_mb: Number.isFinite(mem_mb) ? mem_mb : 0,
        job_id,
      },
    ];
  });
}

/** Lines of `index, uncorrected memory errors since the driver was loaded`. */
export function parseErrors(csv: string): Measured {
  const counted = rows(csv).filter(([index = '', count = '']) => /^\d+$/.test(index) && /^\d+$/.test(count));
  return Object.fromEntries(counted.map(([index, count]) => [`gpu.${index}.ecc_uncorrected`, Number(count)]));
}

/** Lines of `index, slowed down by heat, slowed down by power`; a device that does not tell is left out. */
export function parseThrottled(csv: string): Measured {
  const known = rows(csv).filter(([index = '', ...reasons]) => /^\d+$/.test(index) && reasons.some(isAnswer));
  return Object.fromEntries(
    known.map(([index, ...reasons]) => [`gpu.${index}.throttled`, Number(reasons.includes('Active'))]),
  );
}

function isAnswer(text: string): boolean {
  return text === 'Active' || text === 'Not Active';
}

function rows(csv: string): string[][] {
  return csv
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(',').map((field) => field.trim()));
}
