import { textOf } from './values.js';

/** How the process ends. */
export type Ending = 'clean' | 'failed' | 'terminated';

interface Tracked {
  end(ending: Ending, timeoutMs?: number): Promise<void>;
  endNow(ending: Ending): void;
  /** Tells of an exception that nobody caught. */
  reportFailure(error: Error): void;
}

const TERM_TIMEOUT_MS = 5_000;
const runs = new Set<Tracked>();

/** Ends the run with the process, unless it is ended before. */
export function track(run: Tracked): void {
  if (runs.size === 0) listen();
  runs.add(run);
}

export function untrack(run: Tracked): void {
  if (!runs.delete(run) || runs.size > 0) return;
  process.off('beforeExit', onIdle);
  process.off('exit', onExit);
  process.off('SIGTERM', onTerm);
  process.off('uncaughtExceptionMonitor', onUncaught);
}

function listen(): void {
  process.on('beforeExit', onIdle);
  process.on('exit', onExit);
  process.on('SIGTERM', onTerm);
  process.on('uncaughtExceptionMonitor', onUncaught);
}

function onUncaught(error: unknown): void {
  for (const run of runs) run.reportFailure(error instanceof Error ? error : new Error(textOf(error)));
}

/** Nothing else is to be done: there is time to deliver. */
function onIdle(code: number): void {
  void endAll(code === 0 ? 'clean' : 'failed');
}

/** After process.exit or an exception that nobody caught: nothing can be waited for. */
function onExit(code: number): void {
  for (const run of [...runs]) run.endNow(code === 0 ? 'clean' : 'failed');
}

/** A job is cancelled with it. The process dies of the signal as it would have, unless somebody else listens to it too. */
function onTerm(): void {
  if (process.listenerCount('SIGTERM') > 1) return;
  void endAll('terminated', TERM_TIMEOUT_MS).then(() => process.kill(process.pid, 'SIGTERM'));
}

async function endAll(ending: Ending, timeoutMs?: number): Promise<void> {
  await Promise.all([...runs].map((run) => run.end(ending, timeoutMs)));
}
