/**
 * What lines of a log say, as the detectors and the rules that explain failures read it. Must hold: each pattern is tried on one line without the
 * prefix of a rank, and its time is linear in the length of the line, as every line of every log is tested and any user can write any line.
 */

/** Memory of a GPU: CUDA, HIP, MPS, XLA. */
export const OUT_OF_GPU_MEMORY: readonly RegExp[] = [
  /^(?:(?:torch|cupy)\.(?:\w+\.)*)?OutOfMemoryError\b/,
  /\b(?:CUDA|HIP|MPS) (?:backend )?(?:error: )?out of memory\b/,
  /\bhipErrorOutOfMemory\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bcudaErrorMemoryAllocation\b/,
  /\bCUBLAS_STATUS_ALLOC_FAILED\b/,
  /\bOOM when allocating tensor\b.{0,300}?\bdevice:GPU\b/,
  /\bRESOURCE_EXHAUSTED: .{0,300}?(?:[Oo]ut of memory|\ballocat)/,
];

export const OUT_OF_HOST_MEMORY: readonly RegExp[] = [
  /^(?:\w+\.)*_?(?:Array)?MemoryError\b/,
  /DefaultCPUAllocator: (?:can't allocate memory|not enough memory)/,
  /\bstd::bad_alloc\b/,
  /\bCannot allocate memory\b|\[Errno 12\]|\bENOMEM\b/,
  /\bOOM when allocating tensor\b.{0,300}?\bdevice:CPU\b/,
  /\bJavaScript heap out of memory\b/,
];

/** Each line that one of the patterns above matches has one of these words: most lines end here. */
const MAY_BE_OUT_OF_MEMORY =
  /emory|MEMORY|bad_alloc|ALLOC_FAILED|RESOURCE_EXHAUSTED|\[Errno 12\]|ENOMEM|OOM when|cudaErrorMemoryAllocation/;

/** Which memory ran out, as the line says it; null: it says nothing of the kind. */
export function outOfMemoryIn(line: string): 'GPU' | 'host' | null {
  if (!MAY_BE_OUT_OF_MEMORY.test(line)) return null;
  if (OUT_OF_GPU_MEMORY.some((pattern) => pattern.test(line))) return 'GPU';
  return OUT_OF_HOST_MEMORY.some((pattern) => pattern.test(line)) ? 'host' : null;
}

/** A loss with its value: `loss: nan`, `'loss': nan`, `train_loss=inf`, `Loss is NaN`. Not `best_loss inf`, with which many loops begin. */
const NON_FINITE_LOSS =
  /(?<![A-Za-z])(?<!(?:best|min|lowest|previous)[ _\-/]{1,2}(?:(?:val|valid|validation|eval|test|train)[ _\-/]{1,2})?)loss['"]?\s{0,4}(?:[:=]|is|was|became|got|to)?\s{0,8}['"]?(?:tensor\()?(?:nan|[-+]?inf(?:inity)?)(?![\w-]|\.\w)/i;
const MAY_BE_NON_FINITE = /nan|inf/i;

/** Whether the line shows a loss that is NaN or infinite. */
export function hasNonFiniteLoss(line: string): boolean {
  return MAY_BE_NON_FINITE.test(line) && NON_FINITE_LOSS.test(line);
}

/** Before the line of a rank, PyTorch and torchrun write `[rank0]: ` or `[default0]:`. */
const RANK_PREFIX = /^(?:\[(?:rank|default)?\d+\]:? ?)+/;

export function splitRank(text: string): { readonly rank: string; readonly bare: string } {
  if (!text.startsWith('[')) return { rank: '', bare: text };
  const rank = RANK_PREFIX.exec(text)?.[0] ?? '';
  return { rank, bare: text.slice(rank.length) };
}
