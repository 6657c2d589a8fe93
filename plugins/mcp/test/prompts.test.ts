import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { newId } from '@svc/contract';
import { expect } from 'chai';
import { Lab, submitJob } from './support/lab.js';

describe('the prompt recover_a_failed_job', function () {
  this.timeout(60_000);
  let lab: Lab;
  let client: Client;
  before(async () => {
    lab = await Lab.open();
    client = await lab.connect('write');
  });
  after(() => lab.close());

  const submit = () => submitJob(client);
  const setStatus = (id: string, status: string) => lab.kernel.db('jobs').where({ id }).update({ status });
  const promptFor = async (job_id: string): Promise<string> => {
    const { messages } = await client.getPrompt({ name: 'recover_a_failed_job', arguments: { job_id } });
    const [{ content }] = messages as [(typeof messages)[number]];
    return content.type === 'text' ? content.text : '';
  };

  it('says how to recover a job that failed', async () => {
    const id = await submit();
    await setStatus(id, 'FAILED');
    expect(await promptFor(id)).to.include(`The job ${id} failed. Call explain_failure`);
  });

  for (const [status, so] of [
    ['SUCCEEDED', 'it did not fail'],
    ['CANCELLED', 'it did not fail'],
    ['QUEUED', 'it has not ended'],
  ] as const)
    it(`says of a job that is ${status} that ${so}`, async () => {
      const id = await submit();
      await setStatus(id, status);
      const text = await promptFor(id);
      expect(text).to.include(`The job ${id} is ${status}: ${so}`).and.not.to.include('explain_failure');
    });

  it('refuses a job that there is not', async () => {
    const refusal = await promptFor(newId('job')).catch(String);
    expect(refusal).to.include('-32602').and.to.include('not_found');
  });
});
