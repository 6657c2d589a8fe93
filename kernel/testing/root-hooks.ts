import { stopPostgres } from './each-database.js';

/** What would keep the process alive though its tests are over: theirs is a leak, mocha and the terminal are none. */
const LEAKS = ['Timeout', 'TCPSocketWrap', 'TCPServerWrap', 'ProcessWrap', 'FSEventWrap'];
const PATIENCE_MS = 3_000;

/** Fails the run when tests leave timers, sockets, servers or processes behind. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    await stopPostgres();
    const deadline = Date.now() + PATIENCE_MS;
    while (leaks().length > 0 && Date.now() < deadline) await pause();
    if (leaks().length > 0) throw new Error(`the tests left behind: ${leaks().join(', ')}`);
  },
};

/** Ends outside the timers' phase, where a timer that has just run still counts as active. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 20));
}

function leaks(): string[] {
  const active = process.getActiveResourcesInfo().filter((name) => LEAKS.includes(name));
  const ofThisHook = active.indexOf('Timeout');
  return active.filter((_, index) => index !== ofThisHook);
}
