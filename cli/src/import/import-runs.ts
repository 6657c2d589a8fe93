import { ApiError } from '@svc/client';
import { toSentence } from '../output/api-error.js';
import { RunCopy } from './copy-run.js';
import type { Found } from './find-runs.js';
import type { RunReport } from './report.js';
import { newTallies, type Destination } from './writing/destination.js';

/** What is wrong with one training alone; with any other error of the server the next one would fail too. */
const OF_ONE_RUN = ['validation_error', 'not_found', 'conflict', 'payload_too_large'];

/** Is told how the import goes on. */
export interface Watcher {
  /** `done` of the runs are finished. */
  progress(copy: RunCopy, done: number): void;
  finished(report: RunReport): void;
}

/** Copies one run after the other, and answers what became of each. Throws the error of the server that stops it. */
export async function importRuns({ runs }: Found, destination: Destination, watcher: Watcher): Promise<void> {
  for (const [index, found] of runs.entries()) {
    const copy = new RunCopy(found, destination);
    const error = await copyOne(copy, () => watcher.progress(copy, index));
    watcher.finished(toReport(copy, error));
    if (error instanceof ApiError && !OF_ONE_RUN.includes(error.code)) throw error;
  }
}

/** Why not all of it came in; null when all did. A source may throw anything: what lies in a file is not ours. */
async function copyOne(copy: RunCopy, onBatch: () => void): Promise<unknown> {
  onBatch();
  try {
    await copy.run(onBatch);
    return null;
  } catch (error) {
    return error;
  }
}

function toReport({ found, name, writer, skips, readCount }: RunCopy, error: unknown): RunReport {
  const isEmpty = error === null && writer === null && readCount === 0;
  return {
    name,
    source: found.source,
    path: found.path,
    run_id: writer?.id ?? null,
    is_new: writer?.isNew ?? false,
    ...(writer?.tallies ?? newTallies()),
    skipped: isEmpty
      ? [...skips.list(), { reason: 'it has no metrics', count: 1, first: found.path, metrics: {} }]
      : skips.list(),
    error: error === null ? null : toReason(error),
  };
}

function toReason(error: unknown): string {
  if (error instanceof ApiError) return toSentence(error);
  return error instanceof Error ? error.message : String(error);
}
