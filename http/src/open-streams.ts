import { MIB } from '@svc/contract';
import { HttpError } from '@svc/validation';
import type { HttpLimits } from './limits.js';

const LEAST_BYTES = 128 * 1024;
const MOST_BYTES = 4 * MIB;
const RETRY_AFTER_S = 10;

/** Counts the open event streams to limit their number and their memory. */
export class OpenStreams {
  #count = 0;
  readonly #byToken = new Map<string, number>();

  constructor(private readonly limits: Pick<HttpLimits, 'streams' | 'streamsPerToken' | 'streamBytes'>) {}

  /** Counts one more stream of that token until the returned function is called. Throws when there are too many. */
  enter(tokenId: string): () => void {
    const { streams, streamsPerToken } = this.limits;
    const ofToken = this.#byToken.get(tokenId) ?? 0;
    if (ofToken >= streamsPerToken)
      refuse(
        'rate_limited',
        `this token has ${ofToken} event streams open, the most that one token may have`,
      );
    if (this.#count >= streams)
      refuse('unavailable', `${this.#count} event streams are open, the most that this server keeps`);
    this.#add(tokenId, 1);
    return () => this.#add(tokenId, -1);
  }

  /** The limit of unsent data of one stream. */
  get bytesPerStream(): number {
    const share = this.limits.streamBytes / Math.max(1, this.#count);
    return Math.max(LEAST_BYTES, Math.min(MOST_BYTES, share));
  }

  #add(tokenId: string, change: 1 | -1): void {
    this.#count += change;
    const ofToken = (this.#byToken.get(tokenId) ?? 0) + change;
    if (ofToken === 0) this.#byToken.delete(tokenId);
    else this.#byToken.set(tokenId, ofToken);
  }
}

function refuse(code: 'rate_limited' | 'unavailable', why: string): never {
  const message = `${why}; close some, or try again in ${RETRY_AFTER_S} s`;
  const details = { retry_after_s: RETRY_AFTER_S };
  throw new HttpError(code, message, details, { 'Retry-After': String(RETRY_AFTER_S) });
}
