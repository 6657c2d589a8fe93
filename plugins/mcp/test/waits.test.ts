import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Lab, callTool, submitJob } from './support/lab.js';

describe('tasks', function () {
  this.timeout(60_000);
  let lab: Lab;
  let client: Client;
  before(async () => {
    lab = await Lab.open();
    client = await lab.connect('write');
  });
  after(() => lab.close());

  const submit = () => submitJob(client);

  it('one token waits for 50 of them at once, and again when these have ended', async () => {
    const taskId = await submit();
    const ended: unknown[] = [];
    const wait = () => client.experimental.tasks.getTaskResult(taskId).then(String, String);
    const all = Array.from({ length: 60 }, () => wait().then((answer) => ended.push(answer)));
    await until(() => ended.length === 10, { timeoutMs: 20_000 });
    expect(ended.every((refusal) => String(refusal).includes('rate_limited'))).to.equal(true);
    expect(await callTool(client, 'list_jobs')).to.have.property('jobs');
    await lab.post(`/jobs/${taskId}/cancel`, {});
    await Promise.all(all);
    expect(ended.filter((answer) => !String(answer).includes('rate_limited'))).to.have.length(50);
    expect(await wait()).not.to.include('rate_limited');
  });

  it('that have ended cannot be cancelled', async () => {
    const taskId = await submit();
    expect(await client.experimental.tasks.cancelTask(taskId)).to.include({ status: 'cancelled' });
    const again = await client.experimental.tasks.cancelTask(taskId).catch(String);
    expect(again).to.include('-32602').and.to.include('has ended already: CANCELLED');
  });
});
