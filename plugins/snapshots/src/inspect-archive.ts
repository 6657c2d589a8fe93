import { failValidation } from '@svc/kernel';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const WORKER = fileURLToPath(new URL('../worker/inspect-archive.mjs', import.meta.url));

/** Nearly all that an inspection makes is short-lived: it is collected early, before it has taken much memory. */
const SMALL_HEAP = { maxYoungGenerationSizeMb: 6 };

export interface ArchiveLimits {
  readonly maxFiles: number;
  /** Of all files together, unpacked. */
  readonly maxBytes: number;
}

type Verdict = { readonly flaw: string | null; readonly files: number };

/** The number of files in a gzipped tar. Throws validation_error when it is none, is too large unpacked, or holds what a source tree does not. */
export async function inspectArchive(
  file: string,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  const workerData = { file, ...limits };
  const worker = new Worker(WORKER, { workerData, execArgv: [], resourceLimits: SMALL_HEAP });
  const stop = (): void => void worker.terminate();
  signal.addEventListener('abort', stop);
  try {
    const { flaw, files } = await new Promise<Verdict>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the inspection of a snapshot was stopped')));
    });
    if (flaw !== null) failValidation({ path: '', message: `the snapshot is refused: ${flaw}` });
    return files;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
