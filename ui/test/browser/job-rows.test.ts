import type { Job, JobStatus } from '@svc/contract';
import { expect } from 'chai';
import { MINUTE, NOW, idOf, job, node } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('a job in the list', () => {
  const stage = useStage();
  const names = () => stage.page.locator('a.name').allInnerTexts();
  const untilNames = (...wanted: string[]) => stage.untilEqual(names, wanted);
  const answer = (...items: Job[]) => ({ items, next_before: null });

  const rows: [string, Partial<Job>, string[], string[]][] = [
    [
      'a job that waits',
      { status: 'QUEUED', started_at: null, pending_reason: 'needs 8 GPUs, node-1 has 2' },
      ['Queued', 'needs 8 GPUs, node-1 has 2'],
      [],
    ],
    [
      'a job that waits for a reason yet to come',
      { status: 'QUEUED', started_at: null },
      ['waiting to be scheduled'],
      [],
    ],
    [
      'a job that failed',
      { status: 'FAILED', finished_at: NOW, failure_reason: 'OOM', exit_code: 137 },
      ['Failed', 'out of memory · exit code 137'],
      [],
    ],
    [
      'a job that failed with a message',
      {
        status: 'FAILED',
        finished_at: NOW,
        failure_reason: 'DISPATCH_FAILED',
        failure_message: 'no such file: /x',
      },
      ['no such file: /x'],
      ['could not be started'],
    ],
    [
      'a job that is lost',
      { status: 'LOST', failure_reason: 'LOST' },
      ['Lost', 'the connection to its node was lost'],
      [],
    ],
    ['a job on its node', { node_id: idOf('node', 1) }, ['node-1', '1 GPU'], []],
    ['a job on a node that is gone', { node_id: idOf('node', 9) }, [idOf('node', 9)], ['node-1']],
    ['a job without a GPU', { resources: { gpu: 0, cpu_only: true }, priority: 7 }, ['CPU · priority 7'], []],
    ['no priority where it is the usual one', {}, ['1 GPU'], ['priority']],
    ['a job on its GPUs', { node_id: idOf('node', 1), gpu_indices: [2, 3] }, ['node-1 · GPU 2, 3'], []],
    ['a job of a project', { project: 'vision', experiment: 'lr' }, ['vision / lr'], []],
    ['the time that a job took', { started_at: NOW - 65 * MINUTE, finished_at: NOW }, ['1h 05m'], []],
  ];
  for (const [what, changes, shown, absent] of rows) {
    it(`shows ${what}`, async () => {
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: { 'GET /jobs': answer(job(1, changes)), 'GET /nodes': { items: [node(1)] } },
      });
      const row = page.locator('svc-job-row');
      for (const text of shown) await row.getByText(text, { exact: true }).first().waitFor();
      for (const text of absent) expect(await row.getByText(text).count()).to.equal(0);
    });
  }

  const actions: [JobStatus, string[]][] = [
    ['QUEUED', ['Cancel job-1']],
    ['DISPATCHING', ['Cancel job-1']],
    ['RUNNING', ['Cancel job-1']],
    ['LOST', ['Retry job-1', 'Cancel job-1']],
    ['SUCCEEDED', ['Retry job-1']],
    ['FAILED', ['Retry job-1']],
    ['CANCELLED', ['Retry job-1']],
  ];
  for (const [state, labels] of actions) {
    it(`offers what can be done with a job that is ${state}, and nothing to a token that can only read`, async () => {
      const api = { 'GET /jobs': answer(job(1, { status: state })) };
      const page = await stage.mount('svc-jobs-page', { properties: { query: '' }, api });
      const buttons = page.locator('svc-job-row').getByRole('button');
      await buttons.first().waitFor({ state: 'attached' });
      expect(
        await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))),
      ).to.deep.equal(labels);
      await stage.mount('svc-jobs-page', { properties: { query: '' }, api, canWrite: false });
      await untilNames('job-1');
      expect(await buttons.count()).to.equal(0);
    });
  }
});
