/** A process as nvidia-smi lists it. `gi`, `ci`: the MIG device, by its GPU instance and compute instance. */
export interface SmiProcess {
  readonly pid: number;
  /** As `C`, `G`, `C+G` or `M+C`: it computes, draws, or uses the Multi-Process Service. */
  readonly type: string;
  /** Of the program, without its arguments; empty where nvidia-smi does not say. */
  readonly name: string;
  /** null: it is not told. */
  readonly memoryMb: number | null;
  readonly gi: string;
  readonly ci: string;
}

export interface SmiMigDevice {
  readonly index: string;
  readonly gi: string;
  readonly ci: string;
  readonly totalMb: number | null;
  readonly usedMb: number | null;
}

export interface SmiGpu {
  /** As nvidia-smi writes it: `00000000:3B:00.0`. */
  readonly address: string;
  /** null for a GPU that does not answer. */
  readonly uuid: string | null;
  readonly model: string;
  readonly totalMb: number | null;
  readonly usedMb: number | null;
  /** What it measures of itself, by the last part of the metric's name: `util`, `temp_c`, ... What it does not tell is left out. */
  readonly figures: Readonly<Record<string, number>>;
  readonly isMig: boolean;
  readonly migDevices: readonly SmiMigDevice[];
  readonly processes: readonly SmiProcess[];
  /** Why it cannot be used, as a clause about it; null: nothing says so. */
  readonly trouble: string | null;
}

/** What one answer of `nvidia-smi -q -x` says. */
export interface SmiLog {
  readonly driver: string | null;
  readonly cuda: string | null;
  readonly gpus: readonly SmiGpu[];
}

/** In place of a figure: the GPU, not the figure, is the trouble. */
const IN_TROUBLE = /GPU is lost|requires? reset|fallen off the bus|Unknown Error|ERR!/i;
/** What drivers from 565 on say must be done; `None` and `N/A` say nothing, `Drain P2P` leaves the GPU usable alone. */
const RECOVERY = /^(GPU )?(Reset|(Node )?Reboot|Drain and Reset)$/i;

/**
 * Reads the elements that are needed where they are: drivers write documents that are no well-formed XML (some leave the tag of a memory clock
 * open), and call the same thing by different names.
 */
export function parseSmiLog(text: string): SmiLog {
  const start = text.indexOf('<gpu ');
  const head = start < 0 ? text : text.slice(0, start);
  const gpus = text
    .split(/<gpu (?=id=)/)
    .slice(1)
    .map(parseGpu);
  return { driver: plain(head, 'driver_version'), cuda: plain(head, 'cuda_version'), gpus };
}

function parseGpu(text: string): SmiGpu {
  // Its MIG devices have elements of the same names.
  const migDevices = inner(text, 'mig_devices');
  const block = text.replace(migDevices, '');
  const memory = inner(block, 'fb_memory_usage');
  const uuid = plain(block, 'uuid');
  return {
    address: /^id="([^"]*)"/.exec(block)?.[1] ?? '',
    uuid: uuid !== null && /^GPU-/.test(uuid) ? uuid : null,
    model: plain(block, 'product_name') ?? 'NVIDIA GPU',
    totalMb: number(memory, 'total'),
    usedMb: number(memory, 'used'),
    figures: parseFigures(block, memory),
    isMig: plain(inner(block, 'mig_mode'), 'current_mig') === 'Enabled',
    migDevices: all(migDevices, 'mig_device').map(parseMigDevice),
    processes: all(inner(block, 'processes'), 'process_info').flatMap(parseProcess),
    trouble: findTrouble(block, memory),
  };
}

/** The figure of each reason for which a GPU runs slower, by the words of nvidia-smi. */
const THROTTLES: Readonly<Record<string, string>> = {
  hw_thermal_slowdown: 'throttle_hw_thermal',
  hw_power_brake_slowdown: 'throttle_hw_power',
  sw_thermal_slowdown: 'throttle_sw_thermal',
  sw_power_cap: 'throttle_sw_power',
};

function parseFigures(block: string, memory: string): Record<string, number> {
  const power = inner(block, 'gpu_power_readings') || inner(block, 'power_readings');
  const clocks = inner(block, 'clocks');
  const reasons = inner(block, 'clocks_event_reasons') || inner(block, 'clocks_throttle_reasons');
  const figures: Record<string, number | null> = {
    util: number(inner(block, 'utilization'), 'gpu_util'),
    mem_used_mb: number(memory, 'used'),
    mem_total_mb: number(memory, 'total'),
    temp_c: number(inner(block, 'temperature'), 'gpu_temp'),
    power_w:
      number(power, 'power_draw') ??
      number(power, 'instant_power_draw') ??
      number(power, 'average_power_draw'),
    sm_clock_mhz: number(clocks, 'sm_clock'),
    mem_clock_mhz: number(clocks, 'mem_clock'),
    ecc_uncorrected: uncorrectedErrors(inner(inner(block, 'ecc_errors'), 'volatile')),
    throttled: throttled(reasons),
    ...throttles(reasons),
  };
  const told = Object.entries(figures).filter((entry): entry is [string, number] => entry[1] !== null);
  return Object.fromEntries(told);
}

/** Since the driver was loaded, however the driver splits them up. */
function uncorrectedErrors(counts: string): number | null {
  const names = [
    'sram_uncorrectable',
    'sram_uncorrectable_parity',
    'sram_uncorrectable_secded',
    'dram_uncorrectable',
  ];
  const ofNow = names.map((name) => number(counts, name)).filter((count) => count !== null);
  const ofOld = number(inner(counts, 'double_bit'), 'total');
  return ofNow.length === 0 ? ofOld : ofNow.reduce((sum, count) => sum + count, 0);
}

/** By its hardware, because of heat or power. */
function throttled(reasons: string): number | null {
  const found = [...reasons.matchAll(/reason_hw_(?:thermal|power_brake)_slowdown>\s*(Active|Not Active)/g)];
  return found.length === 0 ? null : Number(found.some(([, state]) => state === 'Active'));
}

/** 1 for each reason that there is now. */
function throttles(reasons: string): Record<string, number> {
  const active = [...reasons.matchAll(/reason_(\w+)>\s*Active/g)].map(([, reason = '']) => THROTTLES[reason]);
  return Object.fromEntries(active.flatMap((figure) => (figure === undefined ? [] : [[figure, 1]])));
}

function parseMigDevice(device: string): SmiMigDevice {
  const memory = inner(device, 'fb_memory_usage');
  return {
    index: plain(device, 'index') ?? '',
    gi: plain(device, 'gpu_instance_id') ?? '',
    ci: plain(device, 'compute_instance_id') ?? '',
    totalMb: number(memory, 'total'),
    usedMb: number(memory, 'used'),
  };
}

function parseProcess(info: string): SmiProcess[] {
  const pid = plain(info, 'pid') ?? '';
  if (!/^\d+$/.test(pid)) return [];
  return [
    {
      pid: Number(pid),
      type: plain(info, 'type') ?? 'C',
      name: toProgram(plain(info, 'process_name') ?? ''),
      memoryMb: number(info, 'used_memory'),
      gi: plain(info, 'gpu_instance_id') ?? 'N/A',
      ci: plain(info, 'compute_instance_id') ?? 'N/A',
    },
  ];
}

/** Without arguments, which may hold secrets, without its directory, and without control characters, which a terminal would obey. */
function toProgram(commandLine: string): string {
  const [program = ''] = commandLine.split(/\s/);
  return decode(program.slice(program.lastIndexOf('/') + 1))
    .replace(/\p{Cc}/gu, '')
    .slice(0, 100);
}

function findTrouble(block: string, memory: string): string | null {
  const told = [plain(memory, 'used'), plain(block, 'uuid'), plain(block, 'performance_state')];
  const word = told.find((each) => each !== null && IN_TROUBLE.test(each));
  if (word !== undefined) return `is in trouble: nvidia-smi says "${decode(word ?? '').slice(0, 100)}"`;
  const action = plain(block, 'gpu_recovery_action') ?? '';
  return RECOVERY.test(action) ? `needs recovery: nvidia-smi asks for "${action}"` : null;
}

/** What stands between the tags, of the first element of that name; empty without one. */
function inner(text: string, tag: string): string {
  const open = `<${tag}>`;
  const from = text.indexOf(open);
  const to = from < 0 ? -1 : text.indexOf(`</${tag}>`, from);
  return to < 0 ? '' : text.slice(from + open.length, to);
}

function all(text: string, tag: string): string[] {
  return text.split(`<${tag}>`).slice(1);
}

function plain(text: string, tag: string): string | null {
  return inner(text, tag).trim() || null;
}

function number(text: string, tag: string): number | null {
  const [word] = /^-?\d+(\.\d+)?(?=\s|$)/.exec(plain(text, tag) ?? '') ?? [];
  return word === undefined ? null : Number(word);
}

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

/** A MIG device as `nvidia-smi -L` names it. */
export interface MigName {
  /** Of the GPU that it is a part of. */
  readonly gpu: string;
  readonly index: string;
  /** As `MIG 3g.20gb`. */
  readonly profile: string;
  readonly uuid: string;
}

/** Of lines such as `GPU 0: NAME (UUID: GPU-…)`, followed by `  MIG 3g.20gb     Device  0: (UUID: MIG-…)`. */
export function parseMigNames(list: string): MigName[] {
  const names: MigName[] = [];
  let gpu = '';
  for (const line of list.split('\n')) {
    gpu = /^GPU \d+: .*\(UUID: (GPU-[^)\s]+)\)/.exec(line)?.[1] ?? gpu;
    const [, profile, index, uuid] =
      /^\s+(MIG \S+)\s+Device\s+(\d+): \(UUID: (MIG-[^)\s]+)\)/.exec(line) ?? [];
    if (profile !== undefined && index !== undefined && uuid !== undefined)
      names.push({ gpu, index, profile, uuid });
  }
  return names;
}
