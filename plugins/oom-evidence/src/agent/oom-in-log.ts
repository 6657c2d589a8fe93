import { isMissing } from '@svc/agent/durable-file';
import { open } from 'node:fs/promises';

const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 50;
const MAX_EVIDENCE_LENGTH = 500;

/** Before the error of a rank, PyTorch and torchrun write `[rank0]: ` or `[default0]:`; before that of C++ stands `what():`. */
const PREFIX = /^(?:\[\w+\]: ?)*(?:\s+what\(\):\s+)?/;
const TRACEBACK = /^Traceback \(most recent call last\)/;
/** `module.Name: message`, as Python writes an uncaught error. */
const ERROR = /^(?:\w+\.)*_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Raised\w*)(?::|$)/;
/** Errors that only say that a child process has failed: the error of the child counts. */
const RELAY = /^(?:\w+\.)*(?:ChildFailedError|CalledProcessError|Process(?:Raised|Exited)Exception)\b/;
/** Python continues after these errors, which are common at the end of a process. */
const IGNORED = /^Exception ignored in\b/;
const DEVICE = '(?:CUDA|HIP|MPS)';

const OUT_OF_MEMORY: readonly RegExp[] = [
  // PyTorch and CuPy; without its module as rich prints it.
  /^(?:(?:torch|cupy)\.(?:\w+\.)*)?OutOfMemoryError\b/,
  // Older PyTorch, MPS, and what CUDA and HIP themselves say.
  new RegExp(
    `^(?:(?:\\w+\\.)*(?:RuntimeError|AcceleratorError): )?${DEVICE} (?:backend )?(?:error: )?out of memory\\b`,
  ),
  /^(?:(?:\w+\.)*(?:RuntimeError|AcceleratorError): )?HIP error: hipErrorOutOfMemory\b/,
  // XLA, under JAX and others.
  /^(?:(?:\w+\.)*(?:XlaRuntimeError|JaxRuntimeError|RuntimeError): )?RESOURCE_EXHAUSTED: .*(?:out of memory|\ballocat)/i,
  // PyTorch without a GPU: its allocator says where in its source, and which check failed.
  /^(?:RuntimeError: )?\[enforce fail at [^\]]+\] .*\bDefaultCPUAllocator: (?:can't allocate|not enough) memory\b/,
  // Python and NumPy.
  /^(?:\w+\.)*_?(?:Array)?MemoryError(?::|$)/,
];

/**
 * The out-of-memory error at the end of a failed attempt's log; null when there is none. The errors in stderr decide; stdout is read only if
 * stderr has none.
 */
export async function findOomInLog(paths: { stdout: string; stderr: string }): Promise<string | null> {
  const last = lastError(await readTail(paths.stderr)) ?? lastError(await readTail(paths.stdout));
  return last !== null && isOutOfMemory(last) ? last.slice(0, MAX_EVIDENCE_LENGTH) : null;
}

/** The last error among the last lines of a text; null: there is none. A line is an error only if it begins with it. */
export function lastError(text: string): string | null {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  let last: string | null = null;
  let [isIgnored, isTraceback] = [false, false];
  for (const line of lines.slice(-TAIL_LINES)) {
    const bare = line.replace(PREFIX, '').trimEnd();
    if (IGNORED.test(bare)) isIgnored = true;
    // The first line after the indented lines of a traceback is its error, whatever its name.
    const isError = (isTraceback && /^\S/.test(bare)) || ERROR.test(bare) || isOutOfMemory(bare);
    isTraceback = TRACEBACK.test(bare) || (isTraceback && !isError);
    if (!isError || isTraceback) continue;
    if (!isIgnored && !RELAY.test(bare)) last = bare;
    isIgnored = false;
  }
  return last;
}

export function isOutOfMemory(line: string): boolean {
  return OUT_OF_MEMORY.some((pattern) => pattern.test(line));
}

/** The last bytes of a file without a partial first line; empty when there is no such file. */
async function readTail(file: string): Promise<string> {
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      const from = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, from);
      const text = buffer.toString('utf8', 0, bytesRead);
      return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}
