import type { Job, JobSubmit } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, idOf, job, node, slot } from './harness/records.js';
import { DOCKER, OPEN, PROCESS } from './harness/runners.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const ID = idOf('job', 1);

describe('the form for a new job', () => {
  const stage = useStage();
  const field = (label: string) => stage.page.getByLabel(label, { exact: true });
  const button = (name: string | RegExp) => stage.page.getByRole('button', { name });
  const submit = () => button('Submit the job').click();
  const command = () => stage.page.locator('.command svc-code code').innerText();
  const sent = () => stage.api.bodies.at(-1) as JobSubmit;
  const created = ({ body }: ApiRequest) => job(7, { name: (body as JobSubmit).name! });

  // A page that is left keeps what was typed.
  afterEach(() => stage.reload());

  interface World {
    readonly from?: Partial<Job>;
    readonly api?: ApiTable;
    readonly canWrite?: boolean;
    readonly viewport?: typeof DESK;
    readonly theme?: 'light' | 'dark';
  }
  const mount = async ({ from, api = {}, ...more }: World = {}) => {
    const page = await stage.mount('svc-new-job-page', {
      properties: { from: from ? ID : '' },
      address: '/jobs/new',
      api: {
        'GET /nodes': { items: [node(1)] },
        'GET /jobs/{job_id}': job(1, from),
        'POST /jobs': created,
        ...api,
      },
      ...more,
    });
    return page;
  };

  it('submits what was typed, shows the command that does the same, and goes to the job', async () => {
    await mount();
    await field('Command').fill(`python3 train.py --name 'two words'`);
    expect(await field('Name (optional)').getAttribute('placeholder')).to.equal('train.py');
    await field('Number of GPUs').fill('2');
    await field('GPU model').selectOption('NVIDIA H100');
    await field('Priority').fill('5');
    await field('Attempts').fill('3');
    await field('Project (optional)').fill('vision');
    await field('Working directory (optional)').fill('/data/project');
    await button('Add a variable').click();
    await field('Name of variable 1').fill('API_KEY');
    await field('Value of API_KEY').fill('secret');
    await button('Add a label').click();
    await field('Name of label 1').fill('zone');
    await field('Value of zone').fill('a');
    const line = await command();
    expect(line).to.equal(
      `svc submit --name train.py --gpu 2 --working-dir /data/project --project vision --priority 5 --max-attempts 3 --node-selector zone=a --node-selector 'gpu_model=NVIDIA H100' --env API_KEY --no-venv -- python3 train.py --name 'two words'`,
    );
    expect(await stage.page.locator('svc-new-job-page').innerText()).not.to.include('secret');
    await stage.expectSound();
    await submit();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/jobs/${idOf('job', 7)}`);
    expect(sent()).to.deep.equal({
      command: ['python3', 'train.py', '--name', 'two words'],
      name: 'train.py',
      runner: 'process',
      working_dir: '/data/project',
      resources: { gpu: 2 },
      priority: 5,
      max_attempts: 3,
      project: 'vision',
      node_selector: { zone: 'a', gpu_model: 'NVIDIA H100' },
      env: { API_KEY: 'secret' },
    });
  });

  it('says how the command is read: as arguments, or by a shell', async () => {
    const page = await mount();
    await field('Command').fill('python3 "a b" | tee x');
    await page.getByText('is passed to the program as text').waitFor();
    expect(await page.locator('.words code').allInnerTexts()).to.deep.equal([
      'python3',
      'a b',
      '|',
      'tee',
      'x',
    ]);
    await button('Shell line').click();
    await page.getByText('sh -c', { exact: true }).waitFor();
    expect(await page.getByText('is passed to the program as text').count()).to.equal(0);
    await submit();
    await stage.untilEqual(() => sent()?.command, ['sh', '-c', 'python3 "a b" | tee x']);
  });

  it('asks for no GPU where no node has one', async () => {
    const page = await mount({ api: { 'GET /nodes': { items: [node(1, { slots: [] })] } } });
    await page.getByText('The job takes no GPU.').waitFor();
    expect(await button('CPU only').getAttribute('aria-pressed')).to.equal('true');
    await field('Command').fill('true');
    await submit();
    await stage.untilEqual(() => sent()?.resources, { cpu_only: true });
  });

  it('lists the models of GPUs with their memory, the largest first', async () => {
    await mount({
      api: {
        'GET /nodes': {
          items: [
            node(1, { slots: [slot(0, { model: 'T4', memory_total_mb: 16_384 })] }),
            node(2),
            node(3, { status: 'OFFLINE' }),
          ],
        },
      },
    });
    await field('GPU model').waitFor();
    const options = await field('GPU model').locator('option').allInnerTexts();
    expect(options.map((text) => text.trim())).to.deep.equal([
      'Any',
      'NVIDIA H100, 80 GiB (2 nodes)',
      'T4, 16 GiB (1 node)',
    ]);
  });

  describe('the runner', () => {
    it('has the options that its schema names, each with its description', async () => {
      const page = await mount({ api: { 'GET /runners': { items: [PROCESS, DOCKER, OPEN] } } });
      await field('Command').fill('python3 train.py');
      expect(await page.getByLabel('Image', { exact: true }).count()).to.equal(0);
      await field('Runner').selectOption('docker');
      await page.getByText('The image, such as pytorch/pytorch:2.4.0.').waitFor();
      await page.getByText('No online node can use it now: node-1: its agent has no such runner.').waitFor();
      await field('Image').fill('torch:2.4');
      await field('Mounts (optional)').fill('/data:/data:ro\n/out:/out');
      await field('Memory (MiB) (optional)').fill('2048');
      await field('Pull (optional)').selectOption('always');
      await stage.expectSound('docker');
      expect(await command()).to.include(
        `--runner docker --image torch:2.4 --runner-option 'pull="always"' --runner-option 'mounts=["/data:/data:ro","/out:/out"]' --runner-option memory_mb=2048`,
      );
      await submit();
      await stage.untilEqual(() => sent()?.runner_options, {
        image: 'torch:2.4',
        pull: 'always',
        mounts: ['/data:/data:ro', '/out:/out'],
        memory_mb: 2048,
      });
    });

    it('of a third party may take options that no schema names', async () => {
      await mount({ api: { 'GET /runners': { items: [PROCESS, OPEN] } } });
      await field('Command').fill('true');
      await field('Runner').selectOption('open');
      await field('Flag (optional)').selectOption('Yes');
      await field('Further options (optional)').fill('{"nice": 5}');
      await submit();
      await stage.untilEqual(() => sent()?.runner_options, { nice: 5, flag: true });
    });
  });

  describe('a flaw', () => {
    const focused = () =>
      stage.page.evaluate(() => {
        let element = document.activeElement;
        while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
        return element?.id ?? '';
      });

    it('that is seen here is said at its field, where the focus goes, and nothing is sent', async () => {
      const page = await mount();
      await submit();
      await page.getByText('must name a program').waitFor();
      await stage.untilEqual(focused, 'command');
      await field('Command').fill('echo "a');
      await submit();
      await page.getByText('a quotation mark " is not closed').waitFor();
      await stage.expectSound();
      expect(stage.api.count('POST')).to.equal(0);
    });

    it('that the server finds is said at its field, and nothing that was typed is lost', async () => {
      const errors = [
        { path: 'priority', message: 'must be at most 1000' },
        { path: 'runner_options.mounts[1]', message: 'must be SOURCE:TARGET' },
        { path: 'somewhere.else', message: 'is odd' },
      ];
      const refusal = new Refusal(422, 'validation_error', 'The request is not valid.', { errors });
      const page = await mount({ api: { 'POST /jobs': refusal } });
      await field('Command').fill('true');
      await field('Priority').fill('2000');
      await field('Runner').selectOption('docker');
      await field('Image').fill('x');
      await submit();
      await page.getByText('must be at most 1000').waitFor();
      await page.getByText('[1]: must be SOURCE:TARGET').waitFor();
      await page.getByRole('alert').getByText('is odd').waitFor();
      await page.getByRole('alert').getByText('2 fields need a change').waitFor();
      await stage.untilEqual(focused, 'priority');
      expect(await field('Priority').inputValue()).to.equal('2000');
      expect(await field('Priority').getAttribute('aria-describedby')).to.include('priority-error');
      await stage.expectSound();
      stage.api.change({ 'POST /jobs': created });
      await field('Priority').fill('1000');
      await page.getByText('1 field needs a change').waitFor();
      expect(await field('Priority').getAttribute('aria-invalid')).not.to.equal('true');
      expect(await page.getByText('must be at most 1000').count(), 'said of the value before').to.equal(0);
      await page.getByText('[1]: must be SOURCE:TARGET').waitFor();
      await submit();
      await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/jobs/${idOf('job', 7)}`);
    });

    it('of the connection keeps everything, and a repeat makes no second job', async () => {
      const page = await mount({ api: { 'POST /jobs': OFFLINE } });
      await field('Command').fill('true');
      await submit();
      await page.getByText('What you typed is kept.').waitFor();
      expect(await field('Command').inputValue()).to.equal('true');
      await field('Command').fill('false');
      await page.getByText('What you typed is kept.').waitFor({ state: 'detached' });
      await field('Command').fill('true');
      stage.api.change({ 'POST /jobs': created });
      await submit();
      await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/jobs/${idOf('job', 7)}`);
      const keys = stage.api.keys;
      expect(keys).to.have.length(2);
      expect(keys[0])
        .to.match(/^[0-9a-f]{32}$/)
        .and.to.equal(keys[1]);
    });
  });

  it('is sent from any field by the keyboard', async () => {
    await mount();
    await field('Command').fill('true');
    await field('Project (optional)').press('Control+Enter');
    await stage.untilEqual(() => sent()?.command, ['true']);
  });

  it('adds and removes variables by the keyboard, and covers their values', async () => {
    await mount();
    await button('Add a variable').press('Enter');
    await stage.page.locator('svc-pairs[noun=variable] input:focus').waitFor();
    await stage.page.keyboard.type('LR');
    await stage.page.keyboard.press('Tab');
    await stage.page.keyboard.type('0.1');
    const value = field('Value of LR');
    expect(await value.inputValue()).to.equal('0.1');
    const cover = () =>
      value.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'));
    expect(await cover()).to.equal('disc');
    await button('Show values').click();
    expect(await cover()).to.equal('none');
    await button('Remove LR').press('Enter');
    await stage.untilEqual(() => value.count(), 0);
    const active = () =>
      stage.page
        .locator('svc-pairs[noun=variable]')
        .evaluate((pairs) => pairs.shadowRoot!.activeElement?.textContent.trim());
    await stage.untilEqual(active, 'Add a variable');
  });

  describe('like an earlier job', () => {
    it('has all that the job had', async () => {
      const page = await mount({
        from: {
          name: 'resnet',
          command: ['bash', '-c', 'make && ./train'],
          resources: { gpu: 4, cpu_only: false },
          priority: 7,
          env: { LR: '0.1' },
          project_id: idOf('prj', 1),
          project: 'an old name',
          node_selector: { gpu_model: 'A100' },
        },
        api: {
          'GET /projects': {
            items: [{ id: idOf('prj', 1), name: 'vision', description: '', run_count: 0, created_at: 0 }],
          },
        },
      });
      await page.getByRole('heading', { name: 'Resubmit with changes' }).waitFor();
      expect(await page.getByRole('link', { name: 'resnet' }).getAttribute('href')).to.equal(`/jobs/${ID}`);
      expect(await field('Command').inputValue()).to.equal('make && ./train');
      expect(await field('Project (optional)').inputValue()).to.equal('vision');
      expect(await field('GPU model').inputValue()).to.equal('A100');
      await field('Number of GPUs').fill('2');
      await submit();
      await stage.untilEqual(() => sent(), {
        command: ['bash', '-c', 'make && ./train'],
        name: 'resnet',
        runner: 'process',
        resources: { gpu: 2 },
        priority: 7,
        max_attempts: 1,
        project: 'vision',
        node_selector: { gpu_model: 'A100' },
        env: { LR: '0.1' },
      });
    });

    it('says which values could not be copied because they are hidden', async () => {
      const page = await mount({ from: { env: { API_KEY: '***', LR: '1' } } });
      await page.getByText('The value of API_KEY could not be copied').waitFor();
      await stage.expectSound();
      await field('Value of API_KEY').fill('x');
      await stage.untilEqual(() => page.getByText('could not be copied').count(), 0);
      await submit();
      await stage.untilEqual(() => sent()?.env, { API_KEY: 'x', LR: '1' });
    });

    it('keeps its source files, and says how a terminal gets them', async () => {
      await mount({ from: { snapshot: 'a1'.repeat(32) } });
      await stage.page.getByText('a1a1a1a1a1a1').waitFor();
      expect(await command()).to.match(new RegExp(`^svc code ${ID} -o ${ID}\\nsvc submit .*--upload ${ID} `));
      await button('Use a directory instead').click();
      await field('Working directory (optional)').fill('/data');
      await submit();
      await stage.untilEqual(() => [sent()?.snapshot, sent()?.working_dir], [undefined, '/data']);
    });

    it('is refused for the job of an evaluation, with the command that evaluates again', async () => {
      const page = await mount({
        from: {
          type: 'EVALUATE',
          evaluation_id: idOf('eval', 1),
          checkpoint_id: idOf('ckpt', 1),
          command: ['python3', 'eval.py'],
        },
      });
      await page.getByText(`svc evaluate ${idOf('ckpt', 1)} python3 eval.py`).waitFor();
      expect(await button('Submit the job').count()).to.equal(0);
      await stage.expectSound();
    });

    it('says that there is no such job', async () => {
      const page = await mount({
        from: {},
        api: { 'GET /jobs/{job_id}': new Refusal(404, 'not_found', 'no job') },
      });
      await page.getByRole('heading', { name: 'Job not found' }).waitFor();
    });
  });

  it('loads by itself once the server is back', async () => {
    const page = await mount({ api: { 'GET /runners': OFFLINE } });
    await page.getByText('could not be loaded').waitFor();
    stage.api.change({ 'GET /runners': { items: [PROCESS] } });
    await field('Command').waitFor();
  });

  it('is no form for a token that can only read', async () => {
    const page = await mount({ canWrite: false });
    await page.getByRole('heading', { name: 'This token can only read' }).waitFor();
    expect(await page.getByRole('textbox').count()).to.equal(0);
    await stage.expectSound();
  });

  for (const [where, viewport] of Object.entries({
    'a desk': DESK,
    'a small desk': { width: 960, height: 700 },
    'a phone': PHONE,
  })) {
    for (const theme of ['light', 'dark'] as const) {
      it(`fits ${where} in ${theme} colours with very long and hostile texts`, async () => {
        await mount({
          from: {
            name: LONG_NAME,
            command: ['python3', LONG_NAME, HOSTILE, 'a\nb'],
            working_dir: `/${LONG_NAME}`,
            project: HOSTILE,
            env: { [`A${LONG_NAME.replaceAll('-', '_')}`]: LONG_NAME },
            node_selector: { zone: LONG_NAME, node: LONG_NAME },
          },
          api: { 'GET /nodes': { items: [node(1, { name: LONG_NAME })] } },
          viewport,
          theme,
        });
        await field('Command').waitFor();
        await stage.expectSound(where);
        expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      });
    }
  }
});
