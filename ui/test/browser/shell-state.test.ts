import type { EventRecord } from '@svc/contract';
import { expect } from 'chai';
import { HOSTILE, event, idOf, job, status } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

type Shown = { title: string; body: string; tag: string };

describe('what the console tells of itself', () => {
  const stage = useStage();
  const heading = (name: string) => stage.page.getByRole('heading', { level: 1, name, exact: true });

  describe('the banner of a lost connection', () => {
    const banner = () => stage.page.getByText('The connection to the server is lost.');
    const mount = (connection: string, options: object = {}) =>
      stage.mount('svc-connection-banner', { properties: { connection }, ...options });

    it('is there once the stream was away for a while, also while it is tried again', async () => {
      await mount('waiting');
      await banner().waitFor();
      await stage.change({ connection: 'connecting' });
      await banner().waitFor();
      await stage.change({ connection: 'live' });
      await banner().waitFor({ state: 'detached' });
    });

    for (const connection of ['live', 'connecting', 'paused'])
      it(`is not there while the stream is ${connection}`, async () => {
        await mount(connection);
        expect(await banner().count()).to.equal(0);
      });

    for (const [look, options] of Object.entries({
      light: { theme: 'light', viewport: DESK },
      dark: { theme: 'dark', viewport: DESK },
      phone: { theme: 'light', viewport: PHONE },
    }))
      it(`says that a stream was refused (${look})`, async () => {
        await mount('failed', options);
        await stage.page.getByText('Not live: the server refused').waitFor();
        await stage.expectSound(look);
      });
  });

  describe('the icon of the tab', () => {
    const iconFile = () =>
      stage.page.evaluate(() => document.querySelector('link[rel="icon"]')?.getAttribute('href'));
    const setHidden = (isHidden: boolean) =>
      stage.page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    afterEach(() =>
      stage.page.evaluate(() => {
        delete (document as { hidden?: boolean }).hidden;
        document.dispatchEvent(new Event('visibilitychange'));
      }),
    );

    const moods: [string, object, string][] = [
      ['nothing', status(), '/favicon.svg'],
      ['a job that waits', status({ QUEUED: 2 }), '/favicon-waiting.svg'],
      ['a job that runs', status({ RUNNING: 1, QUEUED: 2 }, undefined, [job(1)]), '/favicon-running.svg'],
    ];
    for (const [what, answer, file] of moods)
      it(`tells of ${what}`, async () => {
        await stage.mountApp({ api: { 'GET /status': answer } });
        await stage.untilEqual(iconFile, file);
      });

    it('tells that something failed while nobody looked, until somebody does', async () => {
      await stage.mountApp({ api: { 'GET /status': status({ QUEUED: 1 }) } });
      await stage.untilEqual(iconFile, '/favicon-waiting.svg');
      await setHidden(true);
      const failed = { type: 'RUN_FINISHED', severity: 'warning' as const, data: { status: 'FAILED' } };
      await stage.push('/events/stream', [event(2, failed)]);
      await stage.untilEqual(iconFile, '/favicon-failed.svg');
      await setHidden(false);
      await stage.untilEqual(iconFile, '/favicon-waiting.svg');
    });

    it('tells of no failure that somebody saw, and of no success', async () => {
      await stage.mountApp({ api: { 'GET /status': status({ RUNNING: 1 }) } });
      await stage.untilEqual(iconFile, '/favicon-running.svg');
      await stage.push('/events/stream', [event(2, { severity: 'critical' })]);
      await setHidden(true);
      await stage.push('/events/stream', [event(3, { type: 'RUN_FINISHED', data: { status: 'SUCCEEDED' } })]);
      expect(await iconFile()).to.equal('/favicon-running.svg');
    });

    it('is as at first after a sign-out', async () => {
      await stage.mountApp({ api: { 'GET /status': status({ RUNNING: 1 }) } });
      await stage.untilEqual(iconFile, '/favicon-running.svg');
      await stage.page.getByRole('button', { name: 'Sign out' }).click();
      await stage.untilEqual(iconFile, '/favicon.svg');
    });
  });

  describe('notifications', () => {
    const control = () => stage.page.getByRole('switch', { name: 'Notifications' });
    const shown = () => stage.page.evaluate(() => (window as unknown as { shown: Shown[] }).shown);
    /** The browser's own dialog cannot be clicked here, so its answer is given. */
    const play = async (permission: NotificationPermission, answer: NotificationPermission = permission) => {
      await stage.page.evaluate(
        ([first, then]) => {
          const all: unknown[] = [];
          class Played {
            static permission = first;
            static asked = 0;
            static requestPermission(): Promise<string> {
              Played.asked += 1;
              Played.permission = then;
              return Promise.resolve(then!);
            }
            onclick = (): void => {};
            close(): void {}
            constructor(title: string, { body, tag }: { body: string; tag: string }) {
              all.push({ title, body, tag });
              (window as unknown as { last: Played }).last = this;
            }
          }
          Object.assign(window, { Notification: Played, shown: all });
          document.hasFocus = () => false;
        },
        [permission, answer] as const,
      );
      await stage.mountApp({ address: '/settings' });
      await heading('Settings').waitFor();
    };
    const push = (...events: EventRecord[]) => stage.push('/events/stream', events);
    after(() => stage.page.evaluate(() => delete (document as { hasFocus?: unknown }).hasFocus));

    it('are off, and ask for permission only when they are turned on', async () => {
      await play('default', 'granted');
      expect(await control().getAttribute('aria-checked')).to.equal('false');
      await push(event(1, { severity: 'critical' }));
      const asked = () => stage.page.evaluate(() => (Notification as unknown as { asked: number }).asked);
      expect(await asked()).to.equal(0);
      expect(await shown()).to.deep.equal([]);
      await control().click();
      await stage.untilEqual(() => control().getAttribute('aria-checked'), 'true');
      expect(await asked()).to.equal(1);
    });

    it('tell of critical events alone, each once, and lead to where it arose', async () => {
      await play('granted');
      await control().click();
      const critical = event(5, {
        severity: 'critical',
        title: HOSTILE,
        message: 'at step 7',
        run_id: idOf('run', 1),
      });
      await push(event(4, { severity: 'warning' }), critical);
      await push(critical);
      await stage.untilEqual(shown, [{ title: HOSTILE, body: 'at step 7', tag: critical.id }]);
      await stage.page.evaluate(() => (window as unknown as { last: { onclick(): void } }).last.onclick());
      await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/runs/${idOf('run', 1)}`);
      stage.api.mistakes.length = 0;
    });

    it('are off again when they are turned off', async () => {
      await play('granted');
      await control().click();
      await control().click();
      await stage.untilEqual(() => control().getAttribute('aria-checked'), 'false');
      await push(event(6, { severity: 'critical' }));
      expect(await shown()).to.deep.equal([]);
    });

    it('stay off where permission is not given', async () => {
      await play('default', 'default');
      await control().click();
      await stage.untilEqual(() => control().getAttribute('aria-checked'), 'false');
    });

    it('say how to allow them where the browser blocks them', async () => {
      await play('denied');
      await stage.page.getByText('Allow them in its settings of this site').waitFor();
      expect(await control().count()).to.equal(0);
      await stage.expectSound();
    });
  });

  describe('its navigation', () => {
    const links = () => stage.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const texts = async () => (await links().allInnerTexts()).map((text) => text.trim());

    it('has the settings and the tokens at its end', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      expect((await texts()).slice(-2)).to.deep.equal(['Settings', 'Tokens']);
    });

    it('has no tokens for a reader', async () => {
      await stage.mountApp({ api: { 'GET /auth/whoami': { name: 'me', scope: 'read', can_write: false } } });
      await heading('Jobs').waitFor();
      expect((await texts()).at(-1)).to.equal('Settings');
    });

    it('has on a phone what there is room for, and the rest behind a button', async () => {
      await stage.mountApp();
      await heading('Jobs').waitFor();
      await stage.page.setViewportSize(PHONE);
      const more = stage.page.getByRole('button', { name: 'More' });
      await links().filter({ hasText: 'Events' }).waitFor({ state: 'hidden' });
      await more.click();
      await stage.expectSound('open');
      await stage.page.keyboard.press('Escape');
      await links().filter({ hasText: 'Events' }).waitFor({ state: 'hidden' });
      await more.click();
      await links().filter({ hasText: 'Events' }).click();
      await heading('Events').waitFor();
      await links().filter({ hasText: 'Settings' }).waitFor({ state: 'hidden' });
      await stage.expectSound('closed');
    });
  });
});
