import { HttpError, type Clock } from '@svc/kernel';

export interface RateLimits {
  readonly perAddress: number;
  /** For all addresses together. When it is reached, addresses with misses are refused; one without may still try. */
  readonly total: number;
  readonly windowMs: number;
  /** The maximum number of addresses in memory; beyond it the oldest window is evicted. */
  readonly addresses: number;
}

const LIMITS: RateLimits = { perAddress: 10, total: 100, windowMs: 60_000, addresses: 10_000 };

interface Window {
  misses: number;
  readonly endsAt: number;
}

/**
 * Limits the load of wrong sign-in codes; a code of 256 bits cannot be guessed anyway. Each request counts as a miss before its body is
 * read, until its code turns out to be right, so that concurrent requests all count.
 */
export class SignInRateLimit {
  /** In the order in which the windows began and will end. */
  readonly #byAddress = new Map<string, Window>();
  #total: Window = { misses: 0, endsAt: -Infinity };

  constructor(
    private readonly clock: Clock,
    private readonly limits = LIMITS,
  ) {}

  /** Throws rate_limited. */
  count(ip: string): void {
    const now = this.clock.now();
    this.#forgetPast(now);
    const address = toCountedAddress(ip);
    const own = this.#byAddress.get(address);
    if (own && own.misses >= this.limits.perAddress) refuse(own.endsAt - now);
    if (own && this.#total.misses >= this.limits.total) refuse(this.#total.endsAt - now);
    const window = own ?? { misses: 0, endsAt: now + this.limits.windowMs };
    this.#byAddress.set(address, window);
    window.misses += 1;
    this.#total.misses += 1;
  }

  /** The code was right: the request does not count as a miss. */
  uncount(ip: string): void {
    const address = toCountedAddress(ip);
    const own = this.#byAddress.get(address);
    this.#total.misses = Math.max(0, this.#total.misses - 1);
    if (!own) return;
    own.misses -= 1;
    if (own.misses === 0) this.#byAddress.delete(address);
  }

  #forgetPast(now: number): void {
    if (this.#isPast(this.#total, now)) this.#total = { misses: 0, endsAt: now + this.limits.windowMs };
    for (const [address, window] of this.#byAddress) {
      if (!this.#isPast(window, now) && this.#byAddress.size < this.limits.addresses) break;
      this.#byAddress.delete(address);
    }
  }

  /** An end further away than the length of a window means that the clock has been set back. */
  #isPast({ endsAt }: Window, now: number): boolean {
    return endsAt <= now || endsAt > now + this.limits.windowMs;
  }
}

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const NETWORK_GROUPS = 4;

/** A client has a whole /64 of IPv6 addresses, so these count as one. */
export function toCountedAddress(ip: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(ip)?.[1];
  if (ipv4 !== undefined) return ipv4;
  if (!ip.includes(':')) return ip;
  const [before = '', after = ''] = ip.split('%')[0]!.split('::');
  const [head, tail] = [toGroups(before), toGroups(after)];
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  const network = [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS);
  return network.map((group) => parseInt(group, 16).toString(16)).join(':');
}

const toGroups = (part: string): string[] => (part === '' ? [] : part.split(':'));

function refuse(waitMs: number): never {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `too many wrong sign-in codes; try again in ${seconds} s, or sign in with a token`;
  const details = { retry_after_s: seconds };
  throw new HttpError('rate_limited', message, details, { 'Retry-After': String(seconds) });
}
