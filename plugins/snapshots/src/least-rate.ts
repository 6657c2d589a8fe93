import { HttpError, type Clock } from '@svc/kernel';
import { Transform } from 'node:stream';

const LEAST_KIB_PER_S = 16;
const WINDOW_MS = 30_000;
const LEAST_BYTES = (LEAST_KIB_PER_S * 1024 * WINDOW_MS) / 1000;

/** Passes a body on, and fails with request_timeout when it comes too slowly: it would keep others from sending theirs. */
export function leastRate(clock: Clock): Transform {
  let bytes = 0;
  const passing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const timer = clock.setInterval(() => {
    // What lies here has come, and waits for the disk.
    const isDiskSlow = passing.readableLength + passing.writableLength > 0;
    if (bytes < LEAST_BYTES && !isDiskSlow) passing.destroy(toTooSlow());
    bytes = 0;
  }, WINDOW_MS);
  passing.once('close', () => timer.clear());
  return passing;
}

function toTooSlow(): HttpError {
  const limit = `${LEAST_KIB_PER_S} KiB/s over ${WINDOW_MS / 1000} s`;
  const message = `the snapshot came with less than ${limit}: send it over a faster connection, or make it smaller`;
  return new HttpError('request_timeout', message);
}
