import { ApiError, pause, retryDelayMs } from '@svc/client';
import { toSentence } from '../../output/api-error.js';
import { toDuration } from '../../output/format.js';

/** A server that does not answer, or has too much to do, is asked again for so long. */
const MAX_WAIT_MS = 120_000;
const BUSY = [429, 502, 503, 504];

/** Does work that may be done any number of times, until the server takes it. `tell` is told when it has to wait. */
export async function patiently<T>(work: () => Promise<T>, tell: (sentence: string) => void): Promise<T> {
  const startedMs = performance.now();
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      const isPassing =
        error instanceof ApiError && (error.code === 'network' || BUSY.includes(error.status));
      if (!isPassing) throw error;
      const pauseMs = error.retryAfterMs ?? retryDelayMs(failures);
      if (performance.now() - startedMs + pauseMs > MAX_WAIT_MS) throw error;
      if (failures === 0) tell(`${toSentence(error)}; trying again for up to ${toDuration(MAX_WAIT_MS)}`);
      await pause(pauseMs);
    }
  }
}
