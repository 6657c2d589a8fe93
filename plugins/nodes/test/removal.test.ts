import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import { newId } from '@svc/contract';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  until,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { nodes } from '../src/index.js';

eachDatabase((database) => {
  describe('DELETE /nodes/{id}', () => {
    let clock: FakeClock;
    let kernel: TestKernel;
    let agent: FakeAgent;

    beforeEach(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [events(), nodes()], database, clock });
      agent = new FakeAgent({ url: kernel.url, hello: { slots: virtualSlots(2) } });
      await agent.connect();
    });
    afterEach(async () => {
      await agent.close();
      await kernel.close();
    });

    const call = (method: string, path = '', token = 'write') =>
      kernel.request(method, `/nodes/${agent.nodeId}${path}`, { token });
    const record = async () => (await call('GET')).body;
    const disconnect = async () => {
      agent.cut();
      await until(async () => (await record()).connected_at === null);
    };
    const offline = async () => {
      await disconnect();
      await until(async () => {
        await clock.advance(10_000);
        return (await record()).status === 'OFFLINE';
      });
    };

    it('answers the record that was, and leaves nothing of it', async () => {
      await offline();
      const before = await record();
      const removed = await call('DELETE');
      expect([removed.status, removed.body]).to.deep.equal([200, before]);
      expect((await call('GET')).status).to.equal(404);
      expect((await call('DELETE')).status).to.equal(404);
      expect(await kernel.db('slots').select()).to.deep.equal([]);
    });

    it('takes an agent that comes back for a new node, with a new secret', async () => {
      const old = agent.secret;
      await offline();
      await call('DELETE');
      const welcome = await agent.connect();
      expect(welcome.node_id).to.equal(agent.nodeId);
      expect(welcome.node_secret).to.be.a('string').and.not.equal(old);
      expect(await record()).to.include({ status: 'ONLINE', created_at: clock.now() });
    });

    it('is refused while the agent is connected, also when the node is drained', async () => {
      for (const path of ['/undrain', '/drain']) {
        await call('POST', path);
        const refused = await call('DELETE');
        expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
        expect(refused.body.error.message).to.contain('stop its agent first');
      }
    });

    it('waits until the node is OFFLINE, unless it was drained', async () => {
      await disconnect();
      expect((await call('DELETE')).body.error.message).to.contain(
        `drain it first (svc drain ${agent.nodeId},`,
      );
      await call('POST', '/drain');
      expect((await call('DELETE')).status).to.equal(200);
    });

    it('asks for write scope, and for a node', async () => {
      expect((await call('DELETE', '', 'read')).status).to.equal(403);
      for (const id of [newId('node'), 'nonsense'])
        expect((await kernel.request('DELETE', `/nodes/${id}`, { token: 'write' })).status).to.equal(404);
    });
  });
});
