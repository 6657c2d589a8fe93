import type { Client } from '@svc/client';
import { routes } from '@svc/contract';
import path from 'node:path';
import { Failure } from '../failure.js';
import { note } from '../output/print.js';
import { findRuns, type Found } from './find-runs.js';
import { importRuns, type Watcher } from './import-runs.js';
import { ProgressBar } from './progress.js';
import type { ImportReport, RunReport } from './report.js';
import { DryRun } from './writing/dry-run.js';
import type { Placement } from './writing/run-body.js';
import { Server } from './writing/server.js';

const INTERRUPTED = 'interrupted: what was sent has come in, and the same command goes on from there';

export interface ImportOrder extends Placement {
  readonly directory: string;
  readonly dryRun: boolean;
}

/** Brings in all trainings below the directory. `error`: what stopped it before the end, or null. Throws Failure when there is nothing. */
export async function importDirectory(
  client: Client,
  { directory, dryRun, ...placement }: ImportOrder,
): Promise<{ report: ImportReport; error: unknown }> {
  const found = await find(directory);
  // One that cannot be reached from the start is not waited for.
  await client.call(routes.whoami);
  const bar = new ProgressBar(found.runs.length);
  const tell = (sentence: string): void => {
    bar.erase();
    note(sentence);
  };
  const destination = dryRun ? new DryRun(client) : new Server(client, placement, tell);
  const runs: RunReport[] = [];
  const watcher: Watcher = {
    progress: (copy, done) => bar.draw(copy, done),
    finished(run) {
      runs.push(run);
      bar.add(run.points.added + run.points.known);
      if (!bar.isShown) note(toLine(run, runs.length, found.runs.length));
    },
  };
  const onInterrupt = (): void => {
    tell(dryRun ? 'interrupted' : INTERRUPTED);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', onInterrupt);
  const error = await importRuns(found, destination, watcher).then(
    () => null,
    (reason: unknown) => reason,
  );
  process.off('SIGINT', onInterrupt);
  bar.erase();
  return { report: toReport(directory, dryRun, found, runs), error };
}

async function find(directory: string): Promise<Found> {
  const found = await findRuns(directory).catch((error: unknown) => {
    throw new Failure(`${directory} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (found.runs.length + found.leftOut.length === 0)
    throw new Failure(
      `${directory} holds nothing that svc imports: event files of TensorBoard, svc-offline folders, trainer_state.json of Hugging Face, metrics.csv of Lightning, runs of MLflow (mlruns or its SQLite file), run folders of wandb`,
    );
  return found;
}

function toLine({ name, path: place, points, error }: RunReport, index: number, total: number): string {
  const result = error === null ? `${points.added + points.known} points` : `failed: ${error}`;
  return `${index}/${total} ${name ?? place}: ${result}`;
}

function toReport(
  directory: string,
  dry_run: boolean,
  { leftOut, runs: found }: Found,
  runs: readonly RunReport[],
): ImportReport {
  return {
    directory: path.resolve(directory),
    dry_run,
    runs,
    left_out: leftOut.map(({ path: place, reason }) => ({ path: place, reason })),
    complete:
      runs.length === found.length &&
      runs.every(({ error }) => error === null) &&
      !leftOut.some(({ isFailure }) => isFailure),
  };
}
