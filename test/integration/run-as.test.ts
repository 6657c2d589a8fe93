import { routes } from '@svc/contract';
import { expect } from 'chai';
import { chmodSync } from 'node:fs';
import { createWorkplace, submit, untilJob, untilPrinted, type Workplace } from '../support/workplace.js';

describe('svc agent --run-as', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  before(function () {
    // Only root may run a job as another user.
    if (process.getuid?.() !== 0) return this.skip();
    workplace = createWorkplace();
  });
  after(() => workplace?.close());

  it('runs jobs as that user, once it can pass to their directories', async () => {
    const server = await workplace.startServer();
    const { token } = await server.client.call(routes.createToken, { body: { name: 'a', scope: 'agent' } });
    const start = () =>
      workplace.start(['agent', '--state-dir', `${workplace.dir}/agent`, '--run-as', 'nobody'], {
        SVC_URL: server.url,
        SVC_TOKEN: token,
      });
    const refused = await start().ended;
    expect(refused).to.deep.include({ status: 1 });
    expect(refused.stderr).to.match(/^svc: nobody cannot pass to .*: give the agent a directory .*\n$/);

    chmodSync(workplace.dir, 0o711);
    await untilPrinted(start(), /(connected)/, 'stderr');
    const command = ['sh', '-c', 'id -un; cat ../../../../agent/agent.json || exit 3'];
    const { id } = await submit(server.client, { command, resources: { cpu_only: true } });
    const { exit_code } = await untilJob(server.client, id, ({ status }) => status === 'FAILED');
    expect(exit_code).to.equal(3);
    expect((await workplace.svc(['logs', id])).stdout).to.match(/^nobody$/m);
  });
});
