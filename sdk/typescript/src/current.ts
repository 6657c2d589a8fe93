import type { CheckpointOptions, EventOptions, FinishStatus, LogOptions, Metrics } from './run-interface.js';
import type { ReportingRun } from './run.js';

const open: ReportingRun[] = [];
let newest: ReportingRun | null = null;

/** As `log` of the current run: the newest one of this process that is open. */
export function log(metrics: Metrics, options?: LogOptions): void {
  requireRun().log(metrics, options);
}

/** As `checkpoint` of the current run. */
export function checkpoint(file: string, options?: CheckpointOptions): void {
  requireRun().checkpoint(file, options);
}

/** As `event` of the current run. */
export function event(title: string, options?: EventOptions): void {
  requireRun().event(title, options);
}

/** As `finish` of the current run. */
export async function finish(status?: FinishStatus): Promise<void> {
  return requireRun().finish(status);
}

export function findOpen(): ReportingRun | null {
  return open.at(-1) ?? null;
}

export function begin(run: ReportingRun): void {
  newest = run;
  open.push(run);
}

export function leave(run: ReportingRun): void {
  const at = open.indexOf(run);
  if (at >= 0) open.splice(at, 1);
}

/** Without an open run it is the last one, which warns of what is reported too late. Throws where there was none. */
function requireRun(): ReportingRun {
  return findOpen() ?? newest ?? fail();
}

function fail(): never {
  throw new Error('there is no run in this process: call init() first');
}
