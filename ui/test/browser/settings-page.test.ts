import type { MetricDefinition } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, NOW, definition, idOf } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const PROJECT = idOf('proj', 1);
const EXPERIMENT = idOf('exp', 1);
const PLACES: ApiTable = {
  'GET /projects': {
    items: [{ id: PROJECT, name: 'vision', description: '', created_at: NOW, run_count: 1 }],
  },
  'GET /experiments': {
    items: [
      { id: EXPERIMENT, project_id: PROJECT, name: 'sweep', description: '', created_at: NOW, run_count: 1 },
    ],
  },
};

describe('the page of settings', () => {
  const stage = useStage();
  // A theme that changes fades, and a colour in between has too little contrast.
  before(() => stage.page.emulateMedia({ reducedMotion: 'reduce' }));
  const names = () => stage.page.locator('tbody th').allInnerTexts();
  const goal = (name: string) => stage.page.getByRole('combobox', { name: `Goal of ${name}`, exact: true });
  const chosen = (name: string) =>
    goal(name).evaluate((select) => (select as HTMLSelectElement).selectedOptions[0]!.text.trim());
  const mount = (
    items: MetricDefinition[],
    {
      query = '',
      api = {},
      ...options
    }: {
      query?: string;
      api?: ApiTable;
      canWrite?: boolean;
      viewport?: typeof DESK;
      theme?: 'dark' | 'light';
    } = {},
  ) =>
    stage.mount('svc-settings-page', {
      properties: { query },
      address: `/settings?${query}`,
      api: { 'GET /metric-definitions': { items }, ...PLACES, ...api },
      ...options,
    });
  const saved = () => stage.api.requests.filter((request) => request.startsWith('PUT '));

  it('sets the theme', async () => {
    await mount([]);
    const dark = stage.page.getByRole('button', { name: 'Dark' });
    await dark.click();
    await stage.untilEqual(() => dark.getAttribute('aria-pressed'), 'true');
    expect(await stage.page.evaluate(() => localStorage.getItem('svc.theme'))).to.equal('dark');
    await stage.expectSound();
  });

  it('shows goals that are set, suggested by the name, and none', async () => {
    await mount([
      definition('acc', {
        direction: 'maximize',
        guessed: false,
        guessed_from: null,
        auto: false,
        is_primary: true,
        unit: '%',
      }),
      definition('train/loss'),
      definition('lr', { guessed_from: null }),
    ]);
    await stage.untilEqual(names, ['acc', 'lr', 'train/loss']);
    expect(await chosen('acc')).to.equal('Higher is better');
    expect(await chosen('lr')).to.equal('None');
    expect(await chosen('train/loss')).to.equal('Lower is better (by “loss”)');
    expect(await stage.page.getByRole('radio', { name: 'acc is the primary metric' }).isChecked()).to.equal(
      true,
    );
    expect(await stage.page.getByLabel('Unit of acc').inputValue()).to.equal('%');
    await stage.expectSound();
  });

  it('saves a goal, a unit and the primary metric at once, and the focus stays', async () => {
    const put = ({ body }: ApiRequest) =>
      definition('a/b', { ...(body as object), guessed: false, auto: false });
    await mount([definition('a/b'), definition('c')], {
      api: {
        'PUT /metric-definitions/{name:path}': put,
        'PUT /primary-metric': definition('c', { is_primary: true }),
      },
    });
    await goal('a/b').selectOption('maximize');
    await stage.page.getByText('a/b: higher is better.').or(stage.page.locator('tbody')).first().waitFor();
    await stage.untilEqual(() => saved().length, 1);
    await stage.untilEqual(() => stage.api.count('GET /metric-definitions'), 2);
    const label = () =>
      stage.page
        .locator('svc-metric-definitions')
        .evaluate((element) => element.shadowRoot!.activeElement?.getAttribute('aria-label') ?? '');
    await goal('a/b').focus();
    await stage.page.getByLabel('Unit of a/b').fill('ms');
    await stage.page.keyboard.press('Enter');
    await stage.untilEqual(() => saved().length, 2);
    await stage.untilEqual(label, 'Unit of a/b');
    await stage.page.getByRole('radio', { name: 'c is the primary metric' }).check();
    await stage.untilEqual(() => saved().length, 3);
    expect(saved()).to.deep.equal(
      ['PUT /metric-definitions/a%2Fb', 'PUT /metric-definitions/a%2Fb', 'PUT /primary-metric'].map((line) =>
        line.replace('%2F', saved()[0]!.includes('%2F') ? '%2F' : '/'),
      ),
    );
    const level = { project_id: null, experiment_id: null };
    expect(stage.api.bodies).to.deep.equal([
      { direction: 'maximize', ...level },
      { unit: 'ms', ...level },
      { name: 'c', ...level },
    ]);
  });

  it('shows what the server has after a refusal', async () => {
    await mount([definition('loss')], {
      api: { 'PUT /metric-definitions/{name:path}': new Refusal(422, 'validation_failed', 'No.') },
    });
    await goal('loss').selectOption('maximize');
    await stage.untilEqual(() => chosen('loss'), 'Lower is better (by “loss”)');
  });

  it('is of a project or an experiment that the address names', async () => {
    await mount([definition('loss')], { api: { 'PUT /metric-definitions/{name:path}': definition('loss') } });
    await stage.page.getByLabel('Project', { exact: true }).selectOption('vision');
    await stage.page.getByLabel('Experiment', { exact: true }).selectOption('sweep');
    await stage.untilEqual(
      () => new URL(stage.page.url()).search,
      `?project_id=${PROJECT}&experiment_id=${EXPERIMENT}`,
    );
    await stage.untilEqual(
      () => stage.api.requests.at(-1),
      `GET /metric-definitions?project_id=${PROJECT}&experiment_id=${EXPERIMENT}&limit=1000`,
    );
    await goal('loss').selectOption('maximize');
    await stage.untilEqual(
      () => stage.api.bodies,
      [{ direction: 'maximize', project_id: PROJECT, experiment_id: EXPERIMENT }],
    );
  });

  it('defines a metric before it is logged', async () => {
    await mount([], { api: { 'PUT /metric-definitions/{name:path}': definition('val/acc') } });
    await stage.page.getByRole('heading', { name: 'No metric is known here yet' }).waitFor();
    await stage.page.getByLabel('Name of a metric').fill('val/acc');
    await stage.page.getByLabel('Its goal').selectOption('maximize');
    await stage.page.getByRole('button', { name: 'Define' }).click();
    await stage.untilEqual(() => stage.api.bodies.length, 1);
    expect(stage.api.bodies[0]).to.deep.include({ direction: 'maximize' });
    await stage.untilEqual(() => stage.page.getByLabel('Name of a metric').inputValue(), '');
    await stage.expectSound();
  });

  it('finds metrics by words, in the address', async () => {
    await mount([definition('train/loss'), definition('val/loss')], { query: 'q=val' });
    await stage.untilEqual(names, ['val/loss']);
    await stage.page.getByLabel('Find metrics by name').fill('zzz');
    await stage.page.getByRole('heading', { name: 'No metric has these words' }).waitFor();
    expect(new URL(stage.page.url()).search).to.equal('?q=zzz');
  });

  it('draws the first rows of very many, and more when asked', async () => {
    await mount(Array.from({ length: 250 }, (_, at) => definition(`m/${at}`)));
    await stage.untilEqual(async () => (await names()).length, 200);
    await stage.page.getByRole('button', { name: 'Show 50 more' }).click();
    await stage.untilEqual(async () => (await names()).length, 250);
    await stage.page.getByLabel('Find metrics by name').fill('m/24');
    await stage.untilEqual(async () => (await names()).length, 11);
  });

  it('can only be read by a reader, but for what is of the browser', async () => {
    await mount([definition('train/loss', { unit: 'nats', is_primary: true })], { canWrite: false });
    await stage.page.getByText('Lower is better (by “loss”)').waitFor();
    await stage.page.getByText('nats').waitFor();
    for (const role of ['radio', 'textbox'] as const)
      expect(await stage.page.getByRole(role).count(), role).to.equal(0);
    expect(await stage.page.getByRole('button', { name: 'Define' }).count()).to.equal(0);
    await stage.page.getByRole('button', { name: 'Dark' }).waitFor();
    await stage.expectSound();
  });

  it('says that the metrics could not be loaded', async () => {
    await mount([], { api: { 'GET /metric-definitions': OFFLINE } });
    await stage.page.getByRole('heading', { name: 'The metrics could not be loaded' }).waitFor();
    stage.api.change({ 'GET /metric-definitions': { items: [definition('loss')] } });
    await stage.page.getByRole('button', { name: 'Try again' }).click();
    await stage.untilEqual(names, ['loss']);
  });

  for (const [look, options] of Object.entries({
    light: { viewport: DESK },
    dark: { theme: 'dark' as const, viewport: DESK },
    phone: { viewport: PHONE },
    'phone, dark': { theme: 'dark' as const, viewport: PHONE },
  }))
    it(`fits, and takes names as text (${look})`, async () => {
      await mount(
        [definition(HOSTILE), definition(LONG_NAME), definition('acc', { is_primary: true })],
        options,
      );
      await stage.untilEqual(async () => (await names()).includes(HOSTILE), true);
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(look);
      await stage.screenshot(`settings-${look}`);
    });
});
