import { stopPostgres } from './each-database.js';

/** What would keep the process alive though its tests are over: theirs is a leak, mocha and the terminal are none. */
const LEAKS = ['Timeout', 'TCPSocketWrap', 'TCPServerWrap', 'ProcessWrap', 'FSEventWrap'];
/** A time limit that nobody waits for any more runs out by itself. */
const PATIENCE_MS = 12_000;
/** The results are told by then. */
const LINGER_LIMIT_MS = 5_000;
const LINGERED = 97;

/** Fails the run when tests leave timers, sockets, servers or processes behind, and ends the process nevertheless. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    await stopPostgres();
    endTheProcess();
    const deadline = Date.now() + PATIENCE_MS;
    while (leaks().length > 0 && Date.now() < deadline) await pause();
    if (leaks().length > 0) throw new Error(`the tests left behind: ${leaks().join(', ')}`);
  },
};

/** What is left keeps the process, or what Node cannot close lets it spin at its own end: the process ends by force. */
function endTheProcess(): void {
  process.once('beforeExit', () => process.exit());
  setTimeout(() => {
    process.stderr.write(
      `the tests are over, but something keeps the process: ${process.getActiveResourcesInfo().join(', ')}\n`,
    );
    // Mocha sets its own status at the exit.
    process.once('exit', () => (process.exitCode = LINGERED));
    process.exit();
  }, LINGER_LIMIT_MS + PATIENCE_MS).unref();
}

/** Ends outside the timers' phase, where a timer that has just run still counts as active. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 20));
}

function leaks(): string[] {
  const active = process.getActiveResourcesInfo().filter((name) => LEAKS.includes(name));
  const ofThisHook = active.indexOf('Timeout');
  return active.filter((_, index) => index !== ofThisHook);
}
