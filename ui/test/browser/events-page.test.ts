import type { EventRecord, Severity } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, MINUTE, NOW, event, idOf, job, node, run } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const DAY = 24 * 60 * MINUTE;
const MANY = Array.from({ length: 60 }, (_, at) => event(100 - at));

describe('the page of events', () => {
  const stage = useStage();
  const titles = async () =>
    (await stage.page.locator('svc-events-list .title').allInnerTexts()).map((text) =>
      text.replace(/^\w+:\s/, ''),
    );
  const untilTitles = (...wanted: string[]) => stage.untilEqual(titles, wanted);
  const mount = (items: readonly EventRecord[], query = '', api: ApiTable = {}, viewport = DESK) =>
    stage.mount('svc-events-page', {
      properties: { query },
      address: `/events?${query}`,
      api: { 'GET /events': { items }, 'GET /nodes': { items: [node(1)] }, ...api },
      viewport,
    });

  it('shows what happened, newest first, by day', async () => {
    // Within the last second: an hour ago may have been yesterday.
    const today = [event(2, { created_at: NOW }), event(1, { created_at: NOW - 1 })];
    await mount([...today, event(3, { created_at: NOW - 2 * DAY })]);
    await untilTitles('event-2', 'event-1', 'event-3');
    const days = await stage.page.locator('svc-events-list h2').allInnerTexts();
    expect(days).to.have.length(2);
    expect(days[0]).to.match(/^Today · /);
    expect(days[1]).not.to.include('Today');
    await stage.expectSound();
  });

  const links: [string, Partial<EventRecord>, string, string][] = [
    ['its job by name', { job_id: idOf('job', 7) }, 'Job train', `/jobs/${idOf('job', 7)}`],
    ['its run by name', { run_id: idOf('run', 8) }, 'Run grid-8', `/runs/${idOf('run', 8)}`],
    ['its node by name', { node_id: idOf('node', 1) }, 'Node node-1', `/nodes/${idOf('node', 1)}`],
    [
      'a job that is gone by the end of its id',
      { job_id: idOf('job', 9) },
      'Job 000009',
      `/jobs/${idOf('job', 9)}`,
    ],
    [
      'a node that is gone by the end of its id',
      { node_id: idOf('node', 9) },
      'Node 000009',
      `/nodes/${idOf('node', 9)}`,
    ],
  ];
  for (const [what, changes, name, href] of links) {
    it(`links an event to ${what}`, async () => {
      const names = { [idOf('job', 7)]: 'train', [idOf('run', 8)]: 'grid-8', [idOf('node', 1)]: 'node-1' };
      const page = await mount([], '', { 'GET /events': { items: [event(1, changes)], names } });
      const link = page.getByRole('link', { name, exact: true });
      expect(await link.getAttribute('href')).to.equal(href);
      expect(await link.getAttribute('title')).to.equal(href.split('/').at(-1));
    });
  }

  it('says that the address names a severity that there is not', async () => {
    await mount([event(1)], 'severity=zzz');
    await stage.page.getByText('there is no “zzz”').waitFor();
    await stage.page.getByRole('button', { name: 'Show all' }).waitFor();
  });

  it('shows the message beside the title unless it says the same', async () => {
    const page = await mount([
      event(2, { title: 'Loss is NaN', message: 'train/loss at step 7' }),
      event(1, { title: 'The same', message: 'The same' }),
    ]);
    await page.getByText('train/loss at step 7').waitFor();
    expect(await page.getByText('The same').count()).to.equal(1);
  });

  for (const severity of ['info', 'warning', 'critical'] satisfies Severity[]) {
    it(`says to a screen reader that an event is ${severity}`, async () => {
      const page = await mount([event(1, { severity })]);
      await page.locator('li', { hasText: `${severity}: event-1` }).waitFor();
    });
  }

  describe('its filter', () => {
    const echo: ApiTable = {
      'GET /events': ({ query }: ApiRequest) => {
        query.delete('limit');
        query.delete('names');
        return { items: [event(1, { title: query.toString() || 'all' })] };
      },
      'GET /jobs/{job_id}': job(1),
      'GET /runs/{run_id}': run(1),
    };
    const cases: [string, string, string][] = [
      ['nothing', '', 'all'],
      ['a severity', 'severity=critical', 'severity=critical'],
      ['no severity that is none', 'severity=loud', 'all'],
      ['a job', `job_id=${idOf('job', 1)}`, `job_id=${idOf('job', 1)}`],
      ['a run', `run_id=${idOf('run', 1)}`, `run_id=${idOf('run', 1)}`],
      ['a type', 'type=OOM', 'type=OOM'],
      ['a node', `node_id=${idOf('node', 1)}`, `node_id=${idOf('node', 1)}`],
      [
        'a severity of a job',
        `job_id=${idOf('job', 1)}&severity=info`,
        `severity=info&job_id=${idOf('job', 1)}`,
      ],
    ];
    for (const [what, query, title] of cases) {
      it(`takes ${what} from the address`, async () => {
        await mount([], query, echo);
        await untilTitles(title);
      });
    }

    it('keeps the job when the severity is chosen, and the severity when the job is given up', async () => {
      const page = await mount([], `job_id=${idOf('job', 1)}`, {
        ...echo,
        'GET /jobs/{job_id}': job(1, { name: HOSTILE }),
      });
      await page.locator('.scope').getByText(HOSTILE).waitFor();
      await stage.expectSound();
      await page.getByRole('button', { name: 'Warning' }).click();
      await untilTitles(`severity=warning&job_id=${idOf('job', 1)}`);
      await page.getByRole('button', { name: 'Events of every job' }).click();
      await untilTitles('severity=warning');
      expect(new URL(stage.page.url()).search).to.equal('?severity=warning');
    });

    it('takes a type, also of a plugin’s detector, and a node from what is offered', async () => {
      const page = await mount([], 'type=MY_DETECTOR', echo);
      await untilTitles('type=MY_DETECTOR');
      const types = page.getByRole('combobox', { name: 'types' });
      expect(await types.inputValue()).to.equal('MY_DETECTOR');
      await types.selectOption('LOSS_NAN');
      await untilTitles('type=LOSS_NAN');
      await page.getByRole('combobox', { name: 'nodes' }).selectOption('node-1');
      await untilTitles(`type=LOSS_NAN&node_id=${idOf('node', 1)}`);
      await types.selectOption('All types');
      await untilTitles(`node_id=${idOf('node', 1)}`);
    });

    describe('by a job, run or node that is searched for', () => {
      const field = () => stage.page.getByRole('combobox', { name: /^Events of the job, run or node/ });
      const options = () => stage.page.locator('svc-record-search .option .name').allInnerTexts();
      /** Has a job and a run of each name, and finds those that contain it, or whose id ends so. */
      const finding = (...names: string[]): ApiTable => {
        const find =
          <T extends { id: string; name: string }>(of: (number: number, changes: { name: string }) => T) =>
          ({ query }: ApiRequest) => {
            const [q, name] = [query.get('q'), query.get('name')];
            const all = names.map((one, at) => of(at + 1, { name: one }));
            return {
              items: all.filter((one) =>
                q === null ? one.name === name : one.name.includes(q) || one.id.endsWith(q),
              ),
            };
          };
        return {
          ...echo,
          'GET /jobs': (request) => ({ ...find(job)(request), next_before: null }),
          'GET /runs': find(run),
        };
      };

      it('offers what has the words, with the end of its id, and takes what is chosen by keys', async () => {
        await mount([], '', finding('resnet', 'resnet-50', 'bert'));
        await field().fill('resnet');
        await stage.untilEqual(options, ['resnet', 'resnet-50', 'resnet', 'resnet-50']);
        await stage.page.getByText('run 000002').waitFor();
        await stage.expectSound('open');
        await stage.page.keyboard.press('ArrowUp');
        await stage.page.keyboard.press('Enter');
        await untilTitles(`run_id=${idOf('run', 2)}`);
        expect(await field().inputValue()).to.equal('');
        await stage.page.locator('.scope').getByText('run-1').waitFor();
      });

      it('takes the short id that the console shows, and one in an address that is pasted', async () => {
        await mount([], `run_id=${idOf('run', 1)}`, finding('a', 'b'));
        await field().fill('000002');
        await stage.untilEqual(options, ['b', 'b']);
        await field().press('Enter');
        await untilTitles(`job_id=${idOf('job', 2)}`);
        await field().fill(`http://svc/runs/${idOf('run', 2)}?tab=x`);
        await stage.untilEqual(options, ['b']);
        await stage.page.locator('svc-record-search').getByRole('option').click();
        await untilTitles(`run_id=${idOf('run', 2)}`);
      });

      it('searches at once when Enter is pressed, and finds nodes', async () => {
        await mount([], '', finding());
        await field().fill('node-1');
        await field().press('Enter');
        await stage.untilEqual(options, ['node-1']);
        await field().press('Enter');
        await untilTitles(`node_id=${idOf('node', 1)}`);
      });

      it('says that nothing has the name, or why nobody can tell, and goes on Escape', async () => {
        await mount([], '', finding());
        await field().fill('zzz');
        const nothing = stage.page.getByText('No job, run or node has this name or id.');
        await nothing.waitFor();
        await stage.expectSound('nothing');
        await field().press('Escape');
        await nothing.waitFor({ state: 'detached' });
        stage.api.change({ 'GET /runs': OFFLINE });
        await field().fill('zz');
        await stage.page.locator('svc-record-search .nothing').waitFor();
        expect(await nothing.count()).to.equal(0);
      });
    });

    it('leads back when it finds nothing', async () => {
      const page = await mount([], 'severity=critical');
      await page.getByRole('heading', { name: 'No events match the filter' }).waitFor();
      await page.getByRole('link', { name: 'Show all events' }).waitFor();
      await stage.expectSound();
    });

    it('leaves out live events that do not fit it', async () => {
      await mount([event(1, { severity: 'critical' })], 'severity=critical');
      await untilTitles('event-1');
      await stage.push('/events/stream', [event(2), event(3, { severity: 'critical' })]);
      await untilTitles('event-3', 'event-1');
    });
  });

  it('says that nothing has happened yet', async () => {
    const page = await mount([]);
    await page.getByRole('heading', { name: 'No events yet' }).waitFor();
    await stage.expectSound();
  });

  it('says that the events could not be loaded', async () => {
    const page = await mount([], '', { 'GET /events': OFFLINE });
    await page.getByRole('heading', { name: 'The events could not be loaded' }).waitFor();
    stage.api.change({ 'GET /events': { items: [event(1)] } });
    await page.getByRole('button', { name: 'Try again' }).click();
    await untilTitles('event-1');
  });

  it('shows live events at once, each once', async () => {
    await mount([event(1)]);
    await untilTitles('event-1');
    await stage.push('/events/stream', [event(2), event(2), event(1)]);
    await stage.push('/events/stream', [event(3)]);
    await untilTitles('event-3', 'event-2', 'event-1');
    expect(stage.api.count('GET /events')).to.equal(1);
  });

  it('shows an event that came before the first answer', async () => {
    let send = (_: object): void => {};
    await mount([], '', { 'GET /events': () => new Promise((resolve) => (send = resolve)) });
    await stage.untilEqual(() => stage.api.count('GET /events'), 1);
    await stage.push('/events/stream', [event(2)]);
    stage.api.change({ 'GET /events': { items: [event(2), event(1)] } });
    send({ items: [event(1)] });
    await untilTitles('event-2', 'event-1');
  });

  describe('to a reader who is further down', () => {
    const scrollTo = (top: number) => stage.page.evaluate((y) => window.scrollTo(0, y), top);
    const fresh = (count: string) => stage.page.getByRole('button', { name: count });
    const mountBelow = async () => {
      await mount(MANY);
      await stage.untilEqual(async () => (await titles()).length, MANY.length);
      await scrollTo(600);
    };

    it('says how many events are new, and moves nothing', async () => {
      await mountBelow();
      const before = await stage.page.locator('li', { hasText: 'event-70' }).boundingBox();
      await stage.push('/events/stream', [event(101), event(102)]);
      await fresh('2 new events').waitFor();
      await stage.push('/events/stream', [event(103)]);
      await fresh('3 new events').waitFor();
      expect((await titles())[0]).to.equal('event-100');
      expect(await stage.page.locator('li', { hasText: 'event-70' }).boundingBox()).to.deep.equal(before);
      await stage.expectSound();
    });

    it('moves nothing either while something in the list has the focus', async () => {
      await mount([event(1, { job_id: idOf('job', 1) })]);
      await stage.page.getByRole('link', { name: 'Job 000001' }).focus();
      await stage.push('/events/stream', [event(101)]);
      await fresh('1 new event').waitFor();
      expect(await titles()).to.deep.equal(['event-1']);
      await fresh('1 new event').click();
      await untilTitles('event-101', 'event-1');
    });

    it('shows them when asked, from the top', async () => {
      await mountBelow();
      await stage.push('/events/stream', [event(101)]);
      await fresh('1 new event').click();
      await stage.untilEqual(async () => (await titles())[0], 'event-101');
      expect(await stage.page.evaluate(() => window.scrollY)).to.equal(0);
      expect(await fresh('new event').count()).to.equal(0);
    });

    it('shows them once the reader is back at the top', async () => {
      await mountBelow();
      await stage.push('/events/stream', [event(101)]);
      await fresh('1 new event').waitFor();
      await scrollTo(0);
      await stage.untilEqual(async () => (await titles())[0], 'event-101');
    });
  });

  it('goes back in time by pages', async () => {
    const page = await mount([], '', {
      'GET /events': ({ query }: ApiRequest) =>
        query.has('before') ? { items: [event(1)] } : { items: [event(9), event(8)], truncated: true },
    });
    await page.getByText('Fewer events than usual').waitFor();
    await page.getByRole('button', { name: 'Show older events' }).click();
    await untilTitles('event-9', 'event-8', 'event-1');
    expect(stage.api.requests.at(-1)).to.equal(`GET /events?names=true&before=${idOf('evt', 8)}&limit=200`);
  });

  it('takes texts as text', async () => {
    const page = await mount([event(1, { title: HOSTILE, message: `${HOSTILE}!` })]);
    await untilTitles(HOSTILE);
    await page.getByText(`${HOSTILE}!`, { exact: true }).waitFor();
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
  });

  for (const [where, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`fits ${where} with very long texts`, async () => {
      const long = event(1, {
        title: LONG_NAME,
        message: LONG_NAME.repeat(5),
        type: 'TYPE_'.repeat(18),
        severity: 'critical',
        job_id: idOf('job', 1),
        run_id: idOf('run', 1),
        node_id: idOf('node', 1),
      });
      await mount(
        [long],
        `job_id=${idOf('job', 1)}`,
        {
          'GET /nodes': { items: [node(1, { name: LONG_NAME })] },
          'GET /jobs/{job_id}': job(1, { name: LONG_NAME }),
        },
        viewport,
      );
      await untilTitles(LONG_NAME);
      await stage.expectSound(where);
    });
  }
});
