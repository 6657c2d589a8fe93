import type { HttpError } from '@svc/kernel';
import { fakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { SignInRateLimit, toCountedAddress } from '../src/sign-in-rate-limit.js';

describe('the limit of wrong sign-in codes', () => {
  const limits = { perAddress: 3, total: 6, windowMs: 60_000, addresses: 100 };

  function refusal(misses: SignInRateLimit, address: string): HttpError | null {
    try {
      misses.count(address);
      return null;
    } catch (error) {
      return error as HttpError;
    }
  }
  const fill = (misses: SignInRateLimit, address: string, count: number) => {
    for (let miss = 0; miss < count; miss += 1) expect(refusal(misses, address)).to.equal(null);
  };

  it('is for each address', async () => {
    const clock = fakeClock();
    const misses = new SignInRateLimit(clock, limits);
    fill(misses, '10.0.0.1', 3);
    expect(refusal(misses, '10.0.0.1')).to.include({ code: 'rate_limited' });
    fill(misses, '10.0.0.2', 1);
    await clock.advance(59_000);
    expect(refusal(misses, '10.0.0.1')!.headers).to.deep.equal({ 'Retry-After': '1' });
    await clock.advance(1_000);
    fill(misses, '10.0.0.1', 3);
  });

  it('is for all together, and then for those that have missed alone', () => {
    const misses = new SignInRateLimit(fakeClock(), limits);
    fill(misses, '10.0.0.1', 2);
    fill(misses, '10.0.0.2', 2);
    fill(misses, '10.0.0.3', 2);
    expect(refusal(misses, '10.0.0.1')).to.include({ code: 'rate_limited' });
    fill(misses, '10.0.0.4', 1);
    expect(refusal(misses, '10.0.0.4')).to.include({ code: 'rate_limited' });
  });

  it('does not count what turned out to be right', () => {
    const misses = new SignInRateLimit(fakeClock(), limits);
    for (let count = 0; count < 20; count += 1) {
      fill(misses, '10.0.0.1', 1);
      misses.uncount('10.0.0.1');
    }
    fill(misses, '10.0.0.1', 3);
  });

  it('remembers so many addresses, and forgets the first', () => {
    const misses = new SignInRateLimit(fakeClock(), { ...limits, total: 1000 });
    fill(misses, '10.0.0.1', 3);
    for (let other = 0; other < 100; other += 1) fill(misses, `10.0.1.${other}`, 1);
    fill(misses, '10.0.0.1', 1);
  });

  it('does not last when the clock is set back', async () => {
    const clock = fakeClock();
    const misses = new SignInRateLimit(clock, limits);
    fill(misses, '10.0.0.1', 3);
    await clock.advance(-3_600_000);
    fill(misses, '10.0.0.1', 1);
  });

  for (const [ip, address] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::6', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
  ] as const) {
    it(`counts ${ip} as ${address}`, () => {
      expect(toCountedAddress(ip)).to.equal(address);
    });
  }
});
