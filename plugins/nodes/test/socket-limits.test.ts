import { FakeAgent } from '@svc/agent/testing';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { authenticate, definePlugin } from '@svc/kernel';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { nodes, nodesRef } from '../src/index.js';

describe('an agent socket', () => {
  let isRevoked: boolean;
  let kernel: TestKernel;
  let agent: FakeAgent;

  const auth = definePlugin({
    name: 'auth',
    setup: (ctx) =>
      ctx.tap(authenticate, () =>
        isRevoked ? undefined : { token_id: 'tok', name: 'one', scope: 'agent', ingest: null },
      ),
  });

  beforeEach(async () => {
    isRevoked = false;
    const plugins = [auth(), events(), nodes()];
    kernel = await createTestKernel({ plugins, limits: { tokenCheckMs: 20 } });
    agent = new FakeAgent({ url: kernel.url });
  });
  afterEach(async () => {
    agent.cut();
    await kernel.close();
  });

  it('is closed when its token is revoked, and takes no frame from then on', async () => {
    await agent.connect();
    const service = kernel.use(nodesRef);
    const forget = { type: 'forget', job_id: 'job', attempt: 1 } as const;
    expect(service.send(agent.nodeId, forget)).to.equal(true);
    agent.freeze();
    isRevoked = true;
    await until(() => !service.send(agent.nodeId, forget), { everyMs: 5, timeoutMs: 500 });
    expect(service.connectionOf(agent.nodeId), 'it is not cut yet').to.be.a('number');
    const [capacity] = await service.capacity(kernel.db);
    expect(capacity!.connected).to.equal(false);
    await until(() => service.connectionOf(agent.nodeId) === null, { timeoutMs: 3000 });
  });

  it('tells its agent why', async () => {
    await agent.connect();
    isRevoked = true;
    expect(await agent.gone()).to.deep.equal({
      code: 4004,
      reason: 'the token was revoked or has expired',
    });
  });

  it('takes no large frame before the hello, and large ones after it', async () => {
    await agent.open();
    agent.sendRaw(JSON.stringify(agent.toHello({ name: 'x'.repeat(8 * 1024 * 1024) })));
    expect(await agent.gone()).to.include({ code: 1009 });

    await agent.connect();
    agent.sendRaw(JSON.stringify({ type: 'unknown', text: 'x'.repeat(8 * 1024 * 1024) }));
    agent.sendRaw('{"type":"accepted","job_id":7,"attempt":1}');
    expect(await agent.gone()).to.include({ code: 1008 });
  });
});
