/**
 * What lines of a log say, as the detectors and the rules that explain failures read it. Must hold: each pattern is tried on one line without the
 * prefix of a rank, and its time is linear in the length of the line, as every line of every log is tested and any user can write any line.
 */

/** Memory of a GPU: CUDA, HIP, MPS, XLA. */
export const OUT_OF_GPU_MEMORY: readonly RegExp[] = [
  /^(?:(?:torch|cupy)\.(?:\w+\.)*)?OutOfMemoryError\b/,
  /\b(?:CUDA|HIP|MPS) (?:backend )?(?:error: )?out of memory\b|\bcuda (?:runtime error \(2\) : )?out of memory\b/,
  /\bhipErrorOutOfMemory\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bcudaErrorMemoryAllocation\b/,
  /\bCUBLAS_STATUS_ALLOC_FAILED\b/,
  // TensorFlow says which device, but not always.
  /\bOOM when allocating tensor\b.{0,300}?\bdevice:GPU\b/,
  /\bResourceExhaustedError\b.{0,100}?\bOOM when allocating tensor\b(?!.{0,300}?\bdevice:CPU\b)/,
  /\bRESOURCE_EXHAUSTED: .{0,300}?(?:[Oo]ut of memory|\ballocat)/,
];

export const OUT_OF_HOST_MEMORY: readonly RegExp[] = [
  /^(?:\w+\.)*_?(?:Array)?MemoryError\b/,
  // As loggers write it.
  /(?:\[(?:ERROR|CRITICAL|FATAL)\]|\b(?:ERROR|CRITICAL|[Ee]xception|[Ee]rror)\b)[\s:|-]{1,4}(?:[\w.]{1,60}: )?(?:\w{1,40}\.){0,6}_?(?:Array)?MemoryError\b/,
  /DefaultCPUAllocator: (?:can't allocate memory|not enough memory)/,
  /\bstd::bad_alloc\b/,
  /\bCannot allocate memory\b|\[Errno 12\]|\bENOMEM\b/,
  /\bOOM when allocating tensor\b.{0,300}?\bdevice:CPU\b/,
  /\bJavaScript heap out of memory\b/,
];

/** The kernel killed a process for want of memory, as it says so itself, and as Slurm does. */
export const KILLED_FOR_MEMORY: readonly RegExp[] = [
  /\b[Oo]ut of memory: Kill(?:ed)? process \d/,
  /\binvoked oom-killer\b|\boom-kill:constraint=|\boom_reaper: reaped process\b/,
  /\bDetected [1-9]\d{0,6} oom[-_]kill event/,
  /\bkilled by the cgroup out-of-memory handler\b|^srun: error: .{0,100}: Out Of Memory$/,
];

/** Each line that one of the patterns above matches has one of these words: most lines end here. */
const MAY_BE_OUT_OF_MEMORY =
  /emory|MEMORY|oom[-_](?:kill|reaper)|bad_alloc|ALLOC_FAILED|RESOURCE_EXHAUSTED|\[Errno 12\]|ENOMEM|OOM when|cudaErrorMemoryAllocation/;

/** Which memory ran out, as the line says it; null: it says nothing of the kind. */
export function outOfMemoryIn(line: string): 'GPU' | 'host' | null {
  if (!MAY_BE_OUT_OF_MEMORY.test(line)) return null;
  if (OUT_OF_GPU_MEMORY.some((pattern) => pattern.test(line))) return 'GPU';
  const isOfHost = [...OUT_OF_HOST_MEMORY, ...KILLED_FOR_MEMORY].some((pattern) => pattern.test(line));
  return isOfHost ? 'host' : null;
}

/** Of a loss, and none: `loss_scale: inf`. */
const ABOUT_LOSS = 'scal|weight|coef|ratio|count|time|best|min|max|std|var|limit|threshold|fn|function';

/** A loss with its value: `loss: nan`, `'loss': nan`, `train_loss=inf`, `loss/ce | nan`, `Loss is NaN`. */
const NON_FINITE_LOSS = new RegExp(
  [
    // Not `best_loss inf`, with which many loops begin.
    String.raw`(?<!(?:best|min|lowest|previous)[ _\-/]{1,2}(?:(?:val|valid|validation|eval|test|train)[ _\-/]{1,2})?)`,
    String.raw`(?<![A-Za-z])(?:train|val|valid|eval|test|total)?loss(?:es)?`,
    String.raw`(?:[_/(](?!\w{0,16}(?:${ABOUT_LOSS}))[A-Za-z]\w{0,23}\)?)?(?: value)?['"]?\s{0,4}`,
    String.raw`(?:[:=|]|->|(?:is|was|became|becomes|got|went|turned|diverged|exploded)(?: now| to| into)?|to)?\s{0,8}`,
    String.raw`['"]?(?:tensor\()?(?:nan|[-+]?inf(?:inity)?)(?![\w-]|\.\w)`,
  ].join(''),
  'i',
);

/** `NaN loss detected`. Not `no nan loss`, nor the setting or the count of a check: `stop_on_nan_loss`, `nan losses: 0`. */
const NAN_LOSS = new RegExp(
  [
    String.raw`(?<![\w-]|\b(?:no|not|non|without|any|if|for|on|of|avoid|avoids|prevent|prevents|check|checks|checking|detect|detects|against|0)[ -])`,
    String.raw`nan(?: or inf(?:inite)?|/inf)?[ -]loss(?:es)?\b`,
    String.raw`(?!['"]?\s{0,4}[:=]|[\w-]|\s?\?|\s(?:check|count|detect(?:ion|or)|guard|handl|stop|callback|hook|protection|filter|skip|polic))`,
  ].join(''),
  'i',
);
const MAY_BE_NON_FINITE = /nan|inf/i;

/** Whether the line shows a loss that is NaN or infinite. */
export function hasNonFiniteLoss(line: string): boolean {
  return MAY_BE_NON_FINITE.test(line) && (NON_FINITE_LOSS.test(line) || NAN_LOSS.test(line));
}

/** Before the line of a rank, PyTorch and torchrun write `[rank0]: ` or `[default0]:`. */
const RANK_PREFIX = /^(?:\[(?:rank|default)?\d+\]:? ?)+/;

export function splitRank(text: string): { readonly rank: string; readonly bare: string } {
  if (!text.startsWith('[')) return { rank: '', bare: text };
  const rank = RANK_PREFIX.exec(text)?.[0] ?? '';
  return { rank, bare: text.slice(rank.length) };
}
