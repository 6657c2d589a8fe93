import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { bestCheckpoint, plainCheckpoint } from './harness/checkpoint-records.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  evaluation,
  event,
  idOf,
  job,
  node,
  run,
  series,
} from './harness/records.js';
import { VIEWS, useStage } from './harness/stage.js';

const RUN: ApiTable = { 'GET /runs/{run_id}': run(1) };

describe('the page of evaluations', () => {
  const stage = useStage();
  const mount = (items: object[], query = '', api: ApiTable = {}, more: object = {}) =>
    stage.mount('svc-evaluations-page', {
      properties: { query },
      address: `/evaluations?${query}`,
      api: { ...RUN, 'GET /evaluations': { items }, ...api },
      ...more,
    });

  it('shows results, failures with their reason, and the jobs of those that have not ended', async () => {
    const page = await mount(
      [
        evaluation(4, { status: 'QUEUED', metrics: {}, runtime_s: null, finished_at: null }),
        evaluation(3, { status: 'QUEUED', metrics: {}, runtime_s: null, finished_at: null }),
        evaluation(2, { status: 'FAILED', metrics: {}, error: 'the file has no "metrics"' }),
        evaluation(1, { dataset: 'mnist', dataset_version: 'v2', metrics: { acc: 0.5, loss: 'NaN' } }),
      ],
      '',
      {
        'GET /jobs/{job_id}': ({ params }: ApiRequest) =>
          params['job_id'] === idOf('job', 4)
            ? job(4, { status: 'QUEUED', pending_reason: 'waiting for 1 free GPU' })
            : job(3, { status: 'RUNNING' }),
      },
    );
    await page.getByText('waiting for 1 free GPU').waitFor();
    await page.getByText('the file has no "metrics"').waitFor();
    await page.getByText('heldout · mnist v2').waitFor();
    await page.getByRole('link', { name: 'run run-1' }).first().waitFor();
    await page.getByText('NaN').waitFor();
    await page.getByText('Running').waitFor();
    await stage.expectSound();
  });

  it('reads them again when something happens to a job', async () => {
    const page = await mount(
      [evaluation(1, { status: 'QUEUED', metrics: {}, runtime_s: null, finished_at: null })],
      '',
      {
        'GET /jobs/{job_id}': job(1),
      },
    );
    await page.getByText('Running').waitFor();
    stage.api.change({ 'GET /evaluations': { items: [evaluation(1)] } });
    await stage.push('/events/stream', [event(1, { job_id: idOf('job', 1), type: 'EVALUATION_FINISHED' })]);
    await page.getByText('0.91').waitFor();
  });

  it('is about one run or one checkpoint when the address says so', async () => {
    const page = await mount([evaluation(1)], `checkpoint_id=${idOf('ckpt', 1)}`);
    await page.getByText('of the checkpoint').waitFor();
    expect(
      stage.api.requests.some((request) => request.includes(`checkpoint_id=${idOf('ckpt', 1)}`)),
    ).to.equal(true);
  });

  describe('filters', () => {
    const search = () => new URL(stage.page.url()).search;
    const asked = (query: string) =>
      until(() => stage.api.requests.includes(`GET /evaluations?${query}&limit=200`));
    const two = [evaluation(2, { suite: 'heldout' }), evaluation(1, { suite: 'robust', status: 'FAILED' })];

    it('by status, suite and words are in the address, and the server applies them together', async () => {
      const page = await mount(two);
      await page.getByRole('button', { name: 'Failed' }).click();
      await page.getByLabel('Suite', { exact: true }).selectOption('robust');
      await page.getByLabel('Search by suite or dataset').fill('image net');
      await stage.untilEqual(search, '?status=FAILED&suite=robust&q=image+net');
      await asked('status=FAILED&suite=robust&q=image+net');
      await stage.expectSound('filtered');
    });

    it('by a run that is searched for by its name keep the others', async () => {
      const page = await mount(two, 'status=FAILED', { 'GET /runs': { items: [run(7)] } });
      await page.getByLabel('Evaluations of the run').fill('run-7');
      await page.getByRole('option', { name: 'run-7' }).click();
      await stage.untilEqual(search, `?run_id=${idOf('run', 7)}&status=FAILED`);
      await asked(`run_id=${idOf('run', 7)}&status=FAILED`);
      expect(await page.getByRole('link', { name: 'Show those of all runs' }).getAttribute('href')).to.equal(
        '/evaluations?status=FAILED',
      );
    });

    it('that nothing fits are given up, and a status that there is not is said', async () => {
      const page = await mount([], `status=NOPE&suite=gone&run_id=${idOf('run', 1)}`);
      await page.getByText('there is no “NOPE”').waitFor();
      await page.getByRole('heading', { name: 'No evaluation fits' }).waitFor();
      expect(await page.getByLabel('Suite', { exact: true }).inputValue()).to.equal('gone');
      await stage.expectSound('nothing');
      expect(await page.getByRole('link', { name: 'Show all evaluations' }).getAttribute('href')).to.equal(
        `/evaluations?run_id=${idOf('run', 1)}`,
      );
    });
  });

  it('says how the first one is made', async () => {
    const page = await mount([]);
    await page.getByRole('heading', { name: 'No evaluations yet' }).waitFor();
    await stage.expectSound('empty');
  });

  for (const [where, more] of Object.entries(VIEWS)) {
    it(`is sound on ${where} with hostile and long texts`, async () => {
      const metrics = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${LONG_NAME}-${at}`, at]));
      const page = await mount(
        [evaluation(2, { suite: HOSTILE }), evaluation(1, { suite: LONG_NAME, metrics, error: LONG_NAME })],
        '',
        {},
        more,
      );
      await page.getByRole('listitem').getByText(HOSTILE).waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(where);
    });
  }
});

describe('the page of a checkpoint', () => {
  const stage = useStage();
  const trained = run(1, { job_id: idOf('job', 9), attempt: 1 });
  const attempt = {
    attempt: 1,
    status: 'SUCCEEDED',
    node_id: idOf('node', 1),
    run_id: trained.id,
    exit_code: 0,
    failure_reason: null,
    failure_message: null,
    started_at: NOW,
    finished_at: NOW,
  };
  const noted = { note: 'before decay', evaluations: [] };
  const API: ApiTable = {
    'GET /checkpoints/{ckpt_id}': plainCheckpoint(1, { metadata: noted }),
    'GET /checkpoints/{ckpt_id}/evaluations': { items: [] },
    'GET /checkpoints:recommend': bestCheckpoint(3),
    'GET /runs/{run_id}': trained,
    'GET /runs/{run_id}/metrics': {
      run_id: trained.id,
      series: { 'val/loss': series([0.5, 0.25, 0.375]), lr: series(['NaN']) },
    },
    'GET /jobs/{job_id}/attempts': { items: [attempt] },
    'GET /jobs/{job_id}': job(1),
    'GET /nodes': { items: [node(1)] },
  };
  const mount = (api: ApiTable = {}, more: object = {}) =>
    stage.mount('svc-checkpoint-page', {
      properties: { checkpointId: idOf('ckpt', 1) },
      api: { ...API, ...api },
      ...more,
    });

  it('shows where it is, of which run, job and node, what was measured, and the best of its run', async () => {
    const page = await mount();
    await page.getByText('/out/checkpoint-1', { exact: true }).waitFor();
    await page.getByText('node-1').waitFor();
    expect(await page.getByRole('link', { name: 'run-1' }).getAttribute('href')).to.equal(
      `/runs/${trained.id}`,
    );
    expect(await page.getByRole('link', { name: 'job-1' }).getAttribute('href')).to.equal(
      `/jobs/${idOf('job', 9)}`,
    );
    await page.getByText('before decay').waitFor();
    const rows = page.getByRole('region', { name: 'Training metrics at it' }).locator('tbody tr');
    await stage.untilEqual(
      async () => (await rows.allInnerTexts()).map((text) => text.split(/\s+/)),
      [
        ['lr', 'NaN', '0'],
        ['val/loss', '0.375', '20'],
      ],
    );
    await page.getByText(/Best of this run: the lowest val\/loss/).waitFor();
    expect(stage.api.requests.some((request) => request.includes('step_to=100'))).to.equal(true);
    await stage.expectSound();
  });

  it('says that its files are gone, and cannot be evaluated then', async () => {
    const page = await mount({
      'GET /checkpoints/{ckpt_id}': plainCheckpoint(1, { deleted_at: NOW - 5 * MINUTE }),
    });
    await page.getByText(/deleted or rotated away/).waitFor();
    expect(await page.getByRole('button', { name: 'Evaluate from here' }).isDisabled()).to.equal(true);
    await stage.expectSound();
  });

  it('evaluates from here, and shows how it goes until the result is there', async () => {
    const queued = evaluation(1, { status: 'QUEUED', metrics: {}, runtime_s: null, finished_at: null });
    const page = await mount({ 'POST /checkpoints/{ckpt_id}/evaluations': queued });
    await page.getByText('It has not been evaluated').waitFor();
    await page.getByRole('button', { name: 'Evaluate from here' }).click();
    await stage.expectSound('the form');
    await page.getByLabel('Command').fill(`python3 eval.py --name 'a b'`);
    await page.getByLabel('Suite').fill('heldout');
    await page.getByLabel('GPUs').fill('1');
    await page.getByLabel('Environment').fill('A=1');
    stage.api.change({ 'GET /checkpoints/{ckpt_id}/evaluations': { items: [queued] } });
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByText('Running').waitFor();
    expect(stage.api.bodies).to.deep.equal([
      {
        command: ['python3', 'eval.py', '--name', 'a b'],
        suite: 'heldout',
        resources: { gpu: 1 },
        env: { A: '1' },
      },
    ]);
    stage.api.change({ 'GET /checkpoints/{ckpt_id}/evaluations': { items: [evaluation(1)] } });
    await stage.push('/events/stream', [event(1, { job_id: idOf('job', 1), type: 'EVALUATION_FINISHED' })]);
    await page.getByText('0.91').waitFor();
  });

  it('says in the form what is wrong, and what the server refuses', async () => {
    const page = await mount({
      'POST /checkpoints/{ckpt_id}/evaluations': new Refusal(422, 'validation_error', 'the node is gone'),
    });
    await page.getByRole('button', { name: 'Evaluate from here' }).click();
    await page.getByLabel('Command').fill(`x 'y`);
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByRole('alert').getByText('cannot be read').waitFor();
    expect(stage.api.count('POST')).to.equal(0);
    await page.getByLabel('Command').fill('x');
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByRole('alert').getByText('the node is gone').waitFor();
  });

  it('proposes what the evaluation before was', async () => {
    const page = await mount({
      'GET /checkpoints/{ckpt_id}/evaluations': { items: [evaluation(1, { dataset: 'mnist' })] },
      'GET /jobs/{job_id}': job(1, { command: ['python3', 'my eval.py'], env: { SECRET: '***' } }),
    });
    await page.getByText('0.91').waitFor();
    await page.getByRole('button', { name: 'Evaluate from here' }).click();
    await stage.untilEqual(() => page.getByLabel('Command').inputValue(), `python3 'my eval.py'`);
    expect(await page.getByLabel('Dataset', { exact: false }).first().inputValue()).to.equal('mnist');
    expect(await page.getByLabel('Environment').inputValue()).to.equal('');
  });

  it('says that the evaluation before could not be loaded', async () => {
    const page = await mount({
      'GET /checkpoints/{ckpt_id}/evaluations': { items: [evaluation(1)] },
      'GET /jobs/{job_id}': OFFLINE,
    });
    await page.getByText('0.91').waitFor();
    const said = stage.page.evaluate(
      () =>
        new Promise((resolve) =>
          window.addEventListener('svc-toast', (event) => resolve((event as CustomEvent).detail), {
            once: true,
          }),
        ),
    );
    await page.getByRole('button', { name: 'Evaluate from here' }).click();
    expect(await said).to.include({ isError: true });
    expect(await page.getByLabel('Command').isVisible()).to.equal(false);
  });

  it('offers no evaluation to who can only read', async () => {
    const page = await mount({}, { canWrite: false });
    await page.getByText('A token that may write evaluates it by').waitFor();
    expect(await page.getByRole('button', { name: 'Evaluate from here' }).count()).to.equal(0);
    await stage.expectSound();
  });

  it('says why there is no best one, and that without a step nothing was measured at it', async () => {
    const page = await mount({
      'GET /checkpoints/{ckpt_id}': plainCheckpoint(1, { step: null, size: null }),
      'GET /checkpoints:recommend': new Refusal(404, 'not_found', 'POST to it', { metric: 'val/acc' }),
    });
    await page.getByText('None has a value of val/acc').waitFor();
    await page.getByText('saved without a step').waitFor();
    await stage.expectSound();
  });

  it('shows two lines of a very long path', async () => {
    const page = await mount({
      'GET /checkpoints/{ckpt_id}': plainCheckpoint(1, { path: `/${'c'.repeat(4000)}` }),
    });
    const heading = page.getByRole('heading', { name: 'ccc' });
    await heading.waitFor();
    expect((await heading.boundingBox())!.height).to.be.within(10, 80);
  });

  it('says that there is no such checkpoint', async () => {
    const none = new Refusal(404, 'not_found', 'none');
    const page = await mount({
      'GET /checkpoints/{ckpt_id}': none,
      'GET /checkpoints/{ckpt_id}/evaluations': none,
    });
    await page.getByRole('heading', { name: 'Checkpoint not found' }).waitFor();
  });

  for (const [where, more] of Object.entries(VIEWS)) {
    it(`is sound on ${where} with hostile and long texts`, async () => {
      const metadata = { [HOSTILE]: LONG_NAME, evaluations: [] };
      const path = `/${LONG_NAME}/${HOSTILE.replaceAll('/', '')}`;
      const page = await mount(
        {
          'GET /checkpoints/{ckpt_id}': plainCheckpoint(1, { path, metadata }),
          'GET /runs/{run_id}': { ...trained, name: LONG_NAME },
          'GET /runs/{run_id}/metrics': { run_id: trained.id, series: { [LONG_NAME]: series([1e301]) } },
          'GET /checkpoints/{ckpt_id}/evaluations': { items: [evaluation(1, { suite: HOSTILE })] },
        },
        more,
      );
      await page.getByText(LONG_NAME, { exact: true }).first().waitFor();
      await page.getByRole('region', { name: 'Training metrics at it' }).waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(where);
    });
  }
});
