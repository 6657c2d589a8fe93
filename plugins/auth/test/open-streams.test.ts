import { route } from '@svc/contract';
import { definePlugin, sse } from '@svc/kernel';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { expect } from 'chai';
import { auth, authRef, createToken } from '../src/index.js';

const stream = route({ id: 's', method: 'GET', path: '/stream', scope: 'read', summary: '', stream: 'sse' });

const streams = definePlugin({
  name: 'streams',
  setup: ({ hooks, name }) =>
    hooks.routes.tap(name, (routes) => routes.add(stream, () => sse(() => undefined))),
});

eachDatabase((database) => {
  describe('a stream that is open', () => {
    let kernel: TestKernel;
    let clock: FakeClock;

    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [auth(), streams()], database, clock });
    });
    after(() => kernel.close());

    const create = (expires_at: number | null = null) =>
      createToken(kernel.db, { name: 'reader', scope: 'read', expires_at }, clock.now());

    /** How long the stream stays open after `end`, in real time. */
    async function msOpenAfter(token: string, end: () => Promise<unknown>): Promise<number> {
      const client = await kernel.sse('/stream', { token });
      await end();
      const startedAt = performance.now();
      expect((await client.next()).done).to.equal(true);
      return performance.now() - startedAt;
    }

    it('ends within a second of the revocation of its token', async () => {
      const { token, id } = await create();
      const write = kernel.use(authRef).takeFirstToken()!;
      const revoke = () => kernel.request('DELETE', `/tokens/${id}`, { token: write });
      expect(await msOpenAfter(token, revoke)).to.be.lessThan(1000);
    });

    it('ends when another process has revoked it', async () => {
      const { token, id } = await create();
      const revoke = async () => {
        await kernel.db('tokens').where({ id }).update({ revoked_at: clock.now() });
        await clock.advance(400);
      };
      expect(await msOpenAfter(token, revoke)).to.be.lessThan(1000);
    });

    it('ends when it expires', async () => {
      const { token } = await create(clock.now() + 60_000);
      expect(await msOpenAfter(token, () => clock.advance(60_000))).to.be.lessThan(1000);
    });
  });
});
