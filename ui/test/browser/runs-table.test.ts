import type { Run } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { definition, event, idOf, run, series } from './harness/records.js';
import { mountRunsPage } from './harness/runs-world.js';
import { useStage } from './harness/stage.js';

describe('the table of runs', () => {
  const stage = useStage();
  /** The whole ones, of which a row may show start and end. */
  const names = () =>
    stage.page.locator('a.name').evaluateAll((links) => links.map((link) => link.getAttribute('title')));
  const untilNames = (...wanted: string[]) => stage.untilEqual(names, wanted);
  const mount = (items: readonly Run[], query?: string, api?: ApiTable) =>
    mountRunsPage(stage, items, query, api);
  const search = () => new URL(stage.page.url()).search;

  describe('its columns', () => {
    const LOSS = definition('train/loss', { is_primary: true });
    const LR = definition('lr', { guessed_from: null });
    const values: ApiTable = {
      'GET /metric-definitions': { items: [LOSS, LR] },
      'POST /runs/metrics:query': ({ body }: ApiRequest) => {
        const { run_ids: ids } = body as { run_ids: string[] };
        const of = (id: string) => Number(id.slice(-2));
        return {
          series: Object.fromEntries(
            ids.map((id) => [
              id,
              of(id) === 4
                ? {}
                : {
                    'train/loss': series([2, of(id) / 10, of(id) === 3 ? 'NaN' : 1]),
                    lr: series([0.5, 0.25]),
                  },
            ]),
          ),
        };
      },
    };
    const titles = async () =>
      (await stage.page.getByRole('columnheader').allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, ' ').trim(),
      );
    const cells = async (column: number) =>
      (await stage.page.locator(`.row.run > :nth-child(${column + 1})`).allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, ' ').trim(),
      );
    const four = [4, 3, 2, 1].map((number) =>
      run(number, { config: { lr: number / 10, model: { name: `m${number}` } } }),
    );

    it('are at first those of the run, with the primary metric', async () => {
      await mount(four, '', values);
      await stage.untilEqual(titles, [
        'Run',
        'Status',
        'Progress',
        'last train/loss',
        'best train/loss',
        'Created',
        'Duration',
        'Project',
        'Experiment',
        'Tags',
      ]);
      await stage.untilEqual(() => cells(3), ['–', 'NaN', '1', '1']);
      await stage.untilEqual(() => cells(4), ['–', '0.3 @10', '0.2 @10', '0.1 @10']);
    });

    it('are taken from the address: config, last and best values', async () => {
      await mount(four, 'columns=config:model.name,last:lr,best:lr', values);
      await stage.untilEqual(titles, ['Run', 'config model.name', 'last lr', 'best lr']);
      await stage.untilEqual(() => cells(1), ['m4', 'm3', 'm2', 'm1']);
      await stage.untilEqual(() => cells(2), ['–', '0.25', '0.25', '0.25']);
      // Nobody has said whether a low or a high one is better.
      expect(await cells(3)).to.deep.equal(['–', '–', '–', '–']);
    });

    it('are chosen by a search, and kept in the address and in this browser', async () => {
      const page = await mount(four, 'columns=status', values);
      await page.getByRole('button', { name: 'Columns' }).click();
      const dialog = page.getByRole('dialog', { name: 'Columns' });
      await dialog.getByLabel('Search columns').fill('model');
      await dialog.getByLabel('model.name').check();
      await dialog.getByLabel('Search columns').fill('best');
      expect(await dialog.getByRole('checkbox').count()).to.equal(1);
      await dialog.getByLabel('train/loss').check();
      await stage.untilEqual(titles, ['Run', 'Status', 'config model.name', 'best train/loss']);
      await stage.untilEqual(search, '?columns=status%2Cconfig%3Amodel.name%2Cbest%3Atrain%2Floss');
      await dialog.getByLabel('Search columns').fill('nothing of the kind');
      await dialog.getByText('No column’s name contains').waitFor();
      await stage.expectSound('the picker');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await stage.change({ query: '' });
      await stage.untilEqual(search, '?columns=status%2Cconfig%3Amodel.name%2Cbest%3Atrain%2Floss');
    });

    it('are ordered and hidden by keys, and put back', async () => {
      const page = await mount(four, 'columns=status,tags,created', values);
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Columns' });
      await dialog.getByRole('button', { name: 'Move Created up' }).press('Enter');
      await stage.untilEqual(titles, ['Run', 'Status', 'Created', 'Tags']);
      await dialog.getByRole('button', { name: 'Hide Status' }).press('Enter');
      await stage.untilEqual(titles, ['Run', 'Created', 'Tags']);
      await dialog.getByRole('button', { name: 'Reset' }).press('Enter');
      await stage.untilEqual(search, '');
      await page.page().keyboard.press('Escape');
      expect(await dialog.count()).to.equal(0);
    });

    it('are ordered by dragging', async () => {
      const page = await mount(four, 'columns=status,tags,created', values);
      await page.getByRole('button', { name: 'Columns' }).click();
      const rows = page.locator('svc-column-picker ol li');
      await rows.nth(2).dragTo(rows.nth(0));
      await stage.untilEqual(titles, ['Run', 'Created', 'Status', 'Tags']);
    });

    it('have the server sort all runs by any of them, down, up, and not at all', async () => {
      const inOrder: Readonly<Record<string, Run[]>> = {
        'best:train/loss': [four[3]!, four[2]!, four[1]!, four[0]!],
        '-best:train/loss': [four[1]!, four[2]!, four[3]!, four[0]!],
        '-config:lr': four,
        'config:lr': four.toReversed(),
        name: [four[1]!, four[0]!],
      };
      const page = await mount(four, 'columns=config:lr,best:train/loss', {
        ...values,
        'GET /runs': ({ query }: ApiRequest) => ({
          items: inOrder[query.get('sort') ?? ''] ?? four,
          total: 9000,
        }),
      });
      const sort = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').click();
      await sort('best train/loss');
      await untilNames('run-1', 'run-2', 'run-3', 'run-4');
      expect(search()).to.contain('sort=best%3Atrain%2Floss');
      await page.getByText('9,000 runs, sorted by best train/loss, lowest first').waitFor();
      expect(
        await page.getByRole('columnheader', { name: 'best train/loss' }).getAttribute('aria-sort'),
      ).to.equal('ascending');
      await sort('best train/loss');
      await untilNames('run-3', 'run-2', 'run-1', 'run-4');
      await sort('best train/loss');
      await untilNames('run-4', 'run-3', 'run-2', 'run-1');
      await sort('config lr');
      await untilNames('run-1', 'run-2', 'run-3', 'run-4');
      await sort('Run');
      await untilNames('run-3', 'run-4');
    });

    it('keep the order of the server when runs change, and go on behind the last one of it', async () => {
      const pages: ApiTable = {
        'GET /runs': ({ query }: ApiRequest) =>
          query.has('before')
            ? { items: [four[2]!], total: 3 }
            : { items: [four[3]!, four[0]!], truncated: true, total: 3 },
      };
      await mount([], 'sort=best:train/loss', { ...values, ...pages });
      await untilNames('run-1', 'run-4', 'run-2');
      expect(stage.api.requests).to.include(
        `GET /runs?sort=best%3Atrain%2Floss&before=${idOf('run', 4)}&limit=200`,
      );
      stage.api.change({ 'GET /runs': { items: [four[0]!, four[3]!], truncated: true, total: 3 } });
      await stage.push('/events/stream', [event(1, { run_id: idOf('run', 4) })]);
      await untilNames('run-4', 'run-1', 'run-2');
    });

    it('say that values could not be read, and read them again', async () => {
      const page = await mount(four, 'sort=best:train/loss', {
        ...values,
        'POST /runs/metrics:query': OFFLINE,
      });
      await page.getByText('Their values could not be read; trying again').waitFor();
    });

    it('leave out the values of a run that is gone, and no other', async () => {
      const answer = values['POST /runs/metrics:query'] as (request: ApiRequest) => object;
      await mount(four, 'columns=last:lr', {
        ...values,
        'POST /runs/metrics:query': (request: ApiRequest) => {
          const { run_ids: ids } = request.body as { run_ids: string[] };
          return ids.includes(idOf('run', 2)) ? new Refusal(404, 'not_found', 'no run') : answer(request);
        },
      });
      await stage.untilEqual(() => cells(1), ['–', '0.25', '–', '0.25']);
    });
  });

  describe('its groups', () => {
    const runs = [
      run(4, { project_id: idOf('prj', 1), tags: ['a', 'b'], config: { depth: 2 } }),
      run(3, { project_id: idOf('prj', 2), tags: ['b'], config: { depth: 10 } }),
      run(2, { project_id: idOf('prj', 1), config: { depth: 2 } }),
      run(1),
    ];
    const heads = async () =>
      (await stage.page.locator('.row.group').allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, ' ').trim(),
      );

    const cases: [string, string, string[]][] = [
      ['project', 'project', ['speech 1', 'vision 2', 'No project 1']],
      ['experiment', 'experiment', ['No experiment 4']],
      ['tag, a run with two of them in both', 'tags', ['a 1', 'b 2', 'No tag 2']],
      ['an entry of the config, as numbers', 'config:depth', ['2 2', '10 1', 'No depth 1']],
    ];
    for (const [what, group, wanted] of cases) {
      it(`are made by ${what}`, async () => {
        await mount(runs, `group=${group}`);
        await stage.untilEqual(heads, wanted);
        await stage.expectSound(what);
      });
    }

    it('are chosen, closed and opened, and the address has it', async () => {
      const page = await mount(runs);
      await page.getByLabel('Group').selectOption({ label: 'By project' });
      await stage.untilEqual(heads, ['speech 1', 'vision 2', 'No project 1']);
      await untilNames('run-3', 'run-4', 'run-2', 'run-1');
      await page.getByText('vision', { exact: true }).first().click();
      await untilNames('run-3', 'run-1');
      expect(search()).to.equal(`?group=project&closed=${idOf('prj', 1)}`);
      await page.locator('.row.group').nth(1).click();
      await untilNames('run-3', 'run-4', 'run-2', 'run-1');
    });
  });

  describe('with the keyboard', () => {
    const grid = () => stage.page.getByRole('grid', { name: 'Runs' });
    const active = () =>
      stage.page.evaluate(() => {
        const table = document
          .querySelector('svc-runs-page')!
          .shadowRoot!.querySelector('svc-list')!
          .shadowRoot!.querySelector('svc-runs-table')!;
        const id = table.shadowRoot!.querySelector('.scroll')!.getAttribute('aria-activedescendant');
        return id === null
          ? null
          : (table.shadowRoot!.getElementById(id)?.querySelector('.first')?.textContent?.trim() ?? '');
      });
    const three = [run(3), run(2), run(1)];

    it('goes up and down, selects, and opens', async () => {
      const page = await mount(three, 'q=r');
      await untilNames('run-3', 'run-2', 'run-1');
      await grid().focus();
      await grid().press('ArrowDown');
      await stage.untilEqual(active, 'run-3');
      await grid().press('ArrowDown');
      await stage.untilEqual(active, 'run-2');
      await grid().press('Space');
      await page.getByText('1 selected').waitFor();
      await grid().press('End');
      await stage.untilEqual(active, 'run-1');
      await grid().press('Space');
      await page.getByText('2 selected').waitFor();
      expect(search()).to.equal(`?q=r&selected=${idOf('run', 2)}%2C${idOf('run', 1)}`);
      await stage.expectSound('selected');
      await grid().press('Home');
      await grid().press('Enter');
      await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/runs/${idOf('run', 3)}`);
    });

    it('closes and opens a group', async () => {
      await mount(three, 'group=status');
      await untilNames('run-3', 'run-2', 'run-1');
      await grid().focus();
      await grid().press('ArrowDown');
      await grid().press('ArrowLeft');
      await untilNames();
      await grid().press('ArrowRight');
      await untilNames('run-3', 'run-2', 'run-1');
    });
  });

  describe('a selection', () => {
    it('leads to the comparison, survives a filter, and is given up', async () => {
      const page = await mount([run(2), run(1)]);
      await page.getByLabel('Select run-2').check();
      expect(await page.getByRole('link', { name: 'Compare' }).count()).to.equal(0);
      await page.getByLabel('Select run-1').check();
      expect(await page.getByRole('link', { name: 'Compare' }).getAttribute('href')).to.equal(
        `/compare?runs=${idOf('run', 2)}%2C${idOf('run', 1)}`,
      );
      await page.getByRole('button', { name: 'Failed' }).click();
      await page.getByText('2 selected').waitFor();
      await page.getByRole('button', { name: 'Clear' }).click();
      await stage.untilEqual(search, '?status=FAILED');
    });

    it('has at most 50 runs', async () => {
      const fifty = Array.from({ length: 50 }, (_, at) => idOf('run', at + 100));
      const page = await mount([run(2), run(1)], `selected=${fifty.join()}`);
      await page.getByText('50 selected').waitFor();
      await page.getByLabel('Select run-2').click();
      await stage.untilEqual(() => page.getByLabel('Select run-2').isChecked(), false);
      await page.getByText('50 selected').waitFor();
    });
  });

  describe('with 10,000 runs', () => {
    const all = Array.from({ length: 10_000 }, (_, at) =>
      run(20_000 - at, { tags: ['sweep'], step: at, max_steps: 10_000 }),
    );
    const at = new Map(all.map(({ id }, index) => [id, index]));
    const paged: ApiTable = {
      'GET /runs': ({ query }: ApiRequest) => {
        const from = query.has('before') ? at.get(query.get('before')!)! + 1 : 0;
        return { items: all.slice(from, from + 200), total: all.length };
      },
    };

    it('has only the rows in sight in the page, loads all of them, and comes to the last one', async function () {
      this.timeout(90_000);
      const page = await mount([], 'group=status', paged);
      await page.getByRole('button', { name: 'Load all' }).click();
      await page.getByText('10,000 runs, grouped').waitFor({ timeout: 60_000 });
      expect(await page.locator('.row.run').count()).to.be.lessThan(80);
      const grid = stage.page.getByRole('grid', { name: 'Runs' });
      expect(await grid.getAttribute('aria-rowcount')).to.equal('10002');
      await grid.press('End');
      await page.getByRole('link', { name: 'run-10001', exact: true }).waitFor();
      expect(await page.locator('.row.run').count()).to.be.lessThan(80);
      await stage.expectSound('10,000 runs');
    });
  });
});
