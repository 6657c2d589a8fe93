import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, MINUTE, NOW, idOf } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const SECRET = 'svc_read_only-shown-once';
const token = (number: number, changes: object = {}) => ({
  id: idOf('tok', number),
  name: `token-${number}`,
  scope: 'read',
  created_at: NOW - 60 * MINUTE,
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  ...changes,
});

describe('the page of tokens', () => {
  const stage = useStage();
  const button = (name: string | RegExp) => stage.page.getByRole('button', { name, exact: true });
  const rows = () => stage.page.locator('tbody tr');
  const names = () => stage.page.locator('tbody th').allInnerTexts();
  const search = () => new URL(stage.page.url()).search;
  const mount = (
    items: object[],
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
    stage.mount('svc-tokens-page', {
      properties: { query },
      address: `/tokens?${query}`,
      api: { 'GET /tokens': { items }, ...api },
      ...options,
    });

  it('shows those in use, and all when asked', async () => {
    await mount([
      token(4),
      token(3, { revoked_at: NOW - MINUTE }),
      token(2, { expires_at: NOW - MINUTE }),
      token(1, { expires_at: NOW + 60 * MINUTE, scope: 'agent', last_used_at: NOW - MINUTE }),
    ]);
    await stage.untilEqual(names, ['token-4', 'token-1']);
    await rows().first().getByText('Never').first().waitFor();
    await button(/^All/).click();
    await stage.untilEqual(names, ['token-4', 'token-3', 'token-2', 'token-1']);
    await rows().nth(1).getByText('Revoked').waitFor();
    await rows().nth(2).getByText('Expired').waitFor();
    expect(await stage.page.getByRole('button', { name: /^Revoke / }).count()).to.equal(2);
    expect(search()).to.equal('?show=all');
  });

  it('says in a line what each scope may do, and what ingest tokens are', async () => {
    const page = await mount([]);
    for (const text of [
      'Sees everything in the console',
      'May do everything',
      'Reports runs from training',
      'Connects a GPU host',
      'Run ingest:',
    ])
      await page.getByText(text).waitFor();
    await page.getByRole('heading', { name: 'No tokens' }).waitFor();
    await stage.expectSound();
  });

  it('creates one, shows its secret once, and forgets it', async () => {
    const expiresAt = NOW + 30 * 24 * 60 * MINUTE;
    const made = token(5, { name: 'laptop', scope: 'sdk', expires_at: expiresAt });
    const page = await mount([], { api: { 'POST /tokens': { ...made, token: SECRET } } });
    await button('Create a token').click();
    await stage.untilEqual(search, '?new=1');
    await page.getByLabel('Name').fill(' laptop ');
    await page.getByLabel('Expires').selectOption('In 30 days');
    await page.getByRole('radio', { name: /^sdk/ }).check();
    await stage.expectSound('form');
    stage.api.change({ 'GET /tokens': { items: [made] } });
    await button('Create the token').click();
    await page.getByText(SECRET, { exact: true }).waitFor();
    await stage.expectSound('secret');
    const [body] = stage.api.bodies as { name: string; scope: string; expires_at: number }[];
    expect(body).to.deep.include({ name: 'laptop', scope: 'sdk' });
    expect(body!.expires_at / MINUTE).to.be.closeTo(expiresAt / MINUTE, 2);
    await button('I have copied it').click();
    await stage.untilEqual(search, '');
    await stage.untilEqual(names, ['laptop']);
    expect(await page.getByText(SECRET).count()).to.equal(0);
    await stage.untilEqual(
      () => page.evaluate((element) => element.shadowRoot!.activeElement?.textContent?.trim() ?? ''),
      'Create a token',
    );
  });

  it('says beside the name why the server did not create one, and keeps what was typed', async () => {
    const page = await mount([], {
      query: 'new=1',
      api: { 'POST /tokens': new Refusal(422, 'validation_failed', 'The name is taken.') },
    });
    await page.getByLabel('Name').fill('x');
    await button('Create the token').click();
    await page.getByText('The name is taken.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).to.equal('x');
    await stage.expectSound();
  });

  describe('revokes', () => {
    const revoking = (requests: string[]): ApiTable => ({
      'DELETE /tokens/{token_id}': ({ params }: ApiRequest) => {
        requests.push(params['token_id']!);
        return token(2, { id: params['token_id'], revoked_at: NOW });
      },
    });

    it('one after a question, and the focus goes to the next', async () => {
      const requests: string[] = [];
      const page = await mount([token(2), token(1)], { api: revoking(requests) });
      await button('Revoke token-2').click();
      await stage.page.getByRole('dialog').getByText('refused at once').waitFor();
      await stage.expectSound();
      await button('Revoke the token').click();
      await stage.untilEqual(names, ['token-1']);
      expect(requests).to.deep.equal([idOf('tok', 2)]);
      await stage.untilEqual(
        () => page.evaluate((element) => element.shadowRoot!.activeElement?.getAttribute('aria-label') ?? ''),
        'Revoke token-1',
      );
    });

    it('none when the answer is no', async () => {
      const requests: string[] = [];
      await mount([token(2)], { api: revoking(requests) });
      await button('Revoke token-2').click();
      await button('Keep it').click();
      expect(requests).to.deep.equal([]);
      expect(await names()).to.deep.equal(['token-2']);
    });

    it('what may be one’s own token only after saying so', async () => {
      await mount([token(2, { name: 'me' })]);
      await button('Revoke me').click();
      await stage.page.getByText('the name of the token you are signed in with').waitFor();
      await button('Keep it').click();
    });
  });

  it('is for writers alone', async () => {
    const page = await mount([token(1)], { canWrite: false, query: 'new=1' });
    await page.getByRole('heading', { name: 'This token can only read' }).waitFor();
    expect(await page.getByRole('button').count()).to.equal(0);
    expect(stage.api.count('GET /tokens')).to.equal(0);
    await stage.expectSound();
  });

  it('says that the tokens could not be loaded', async () => {
    const page = await mount([], { api: { 'GET /tokens': OFFLINE } });
    await page.getByRole('heading', { name: 'The tokens could not be loaded' }).waitFor();
    stage.api.change({ 'GET /tokens': { items: [token(1)] } });
    await button('Try again').click();
    await stage.untilEqual(names, ['token-1']);
  });

  for (const [look, options] of Object.entries({
    light: { viewport: DESK },
    dark: { theme: 'dark' as const, viewport: DESK },
    phone: { viewport: PHONE },
    'phone, dark': { theme: 'dark' as const, viewport: PHONE },
  }))
    it(`fits, and takes names as text (${look})`, async () => {
      const items = [
        token(3, { name: HOSTILE }),
        token(2, { name: LONG_NAME, expires_at: NOW + MINUTE }),
        token(1, { revoked_at: NOW }),
      ];
      await mount(items, { query: 'show=all&new=1', ...options });
      await stage.untilEqual(async () => (await names())[0], HOSTILE);
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(look);
      await stage.screenshot(`tokens-${look}`);
    });
});
