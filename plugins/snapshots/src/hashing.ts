import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** Passes bytes on, and gives their SHA-256 to `onEnd` before its own end. */
export function hashing(onEnd: (sha256: string) => void | Promise<void>): Transform {
  const hash = createHash('sha256');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      const ended = async () => onEnd(hash.digest('hex'));
      ended().then(() => done(), done);
    },
  });
}
