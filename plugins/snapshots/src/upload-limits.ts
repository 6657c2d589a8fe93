import { HttpError } from '@svc/kernel';

export interface MostUploads {
  readonly perToken: number;
  readonly inAll: number;
}

/** Each takes up to `max_mb` of the disk before it is inspected. */
export class UploadLimits {
  readonly #most: MostUploads;
  readonly #byToken = new Map<string, number>();
  #inAll = 0;

  constructor(most: MostUploads) {
    this.#most = most;
  }

  /** Throws rate_limited or unavailable when there are too many at once. */
  async count<T>(tokenId: string, upload: () => Promise<T>): Promise<T> {
    const ofToken = this.#byToken.get(tokenId) ?? 0;
    const { perToken, inAll } = this.#most;
    if (ofToken >= perToken) refuse('rate_limited', `this token sends ${ofToken} snapshots now`);
    if (this.#inAll >= inAll) refuse('unavailable', `${this.#inAll} snapshots are being sent now`);
    this.#add(tokenId, 1);
    try {
      return await upload();
    } finally {
      this.#add(tokenId, -1);
    }
  }

  #add(tokenId: string, one: 1 | -1): void {
    const ofToken = (this.#byToken.get(tokenId) ?? 0) + one;
    this.#inAll += one;
    if (ofToken === 0) this.#byToken.delete(tokenId);
    else this.#byToken.set(tokenId, ofToken);
  }
}

function refuse(code: 'rate_limited' | 'unavailable', why: string): never {
  const message = `${why}, and no more are taken at once: send this one again when one of them has ended`;
  throw new HttpError(code, message, {}, { 'Retry-After': '2' });
}
