import { until } from '@svc/hooks/testing';
import { build } from 'esbuild';
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot } from '../../../../test/support/browser.js';
import { requireEngine } from '../../../../test/support/engines.js';
import { FakeApi, type ApiTable } from './fake-api.js';
import type { Harness, MountRequest } from './page.js';
import { EMPTY_SERVER, NOW } from './records.js';
import { AXE, excessWidthOf, findFaults, findTurning } from './soundness.js';

const UI = path.resolve(import.meta.dirname, '../../..');
/** A busy machine is slow; a test that fails waits for so long. */
const PATIENCE_MS = 8_000;
const ORIGIN = 'http://localhost';
export const DESK = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };
/** How each page is looked at, by their names in the tests. */
export const VIEWS = {
  'a desk': {},
  'a desk in the dark': { theme: 'dark' as const },
  'a phone': { viewport: PHONE },
  'a phone in the dark': { viewport: PHONE, theme: 'dark' as const },
};

declare const window: { harness: Harness };

interface MountOptions {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly api?: ApiTable;
  /** Default: true. */
  readonly canWrite?: boolean;
  readonly address?: string;
  readonly events?: readonly string[];
  readonly viewport?: { width: number; height: number };
  readonly theme?: 'light' | 'dark';
}

/** A browser page for the tests of one `describe`. Each `mount` starts from nothing. */
export interface Stage {
  readonly api: FakeApi;
  readonly page: Page;
  /** Puts the element on the empty page; answers its locator. */
  mount(tag: string, options?: MountOptions): Promise<Locator>;
  /** The whole console, signed in when there is a token. */
  mountApp(options?: { address?: string; token?: string | null; api?: ApiTable }): Promise<Locator>;
  /** Opens the empty page anew: modules forget what they keep. */
  reload(): Promise<void>;
  /** Sets properties of the mounted element. */
  change(properties: Readonly<Record<string, unknown>>): Promise<void>;
  /** What the element has fired, of `events`. */
  heard(): Promise<[name: string, detail: unknown][]>;
  /** Sends events on a stream once the page has opened it; `path` as in the contract, below /api/v1. */
  push(path: string, events: readonly object[], name?: string): Promise<void>;
  /** The server does not answer and its streams are cut, until it is back. */
  setAway(isAway: boolean): Promise<void>;
  /** Waits until `read` answers that; shows the difference when it does not. */
  untilEqual<T>(read: () => T | Promise<T>, wanted: T): Promise<void>;
  /** The page has no fault that axe finds, nothing is wider than the page, and no text turns the direction of others. */
  expectSound(what?: string): Promise<void>;
  screenshot(name: string): Promise<void>;
}

let bundle: Promise<string> | undefined;

/** Registers the hooks of a stage with the `describe` around it. */
export function useStage(): Stage {
  const api = new FakeApi();
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  const open = async (): Promise<void> => {
    await page.goto(`${ORIGIN}/`);
    await page.addScriptTag({ path: AXE });
  };

  before(async function () {
    this.timeout(60_000);
    const chromium = requireEngine(this, 'chromium');
    const [started, code] = await Promise.all([launchBrowser(chromium), (bundle ??= bundleHarness())]);
    browser = started;
    page = await browser.newPage({ viewport: DESK });
    page.setDefaultTimeout(PATIENCE_MS);
    complaints = collectComplaints(page);
    // tsx names the functions that it sends to the browser by this.
    await page.addInitScript('globalThis.__name = (value) => value');
    await page.exposeFunction('answerRequest', (request: Parameters<FakeApi['answer']>[0]) =>
      api.answer(request),
    );
    await page.route(`${ORIGIN}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: pageText(code) }),
    );
    await open();
  });
  afterEach(() => {
    const all = [...complaints.splice(0), ...api.mistakes.splice(0)];
    expect(all, 'the page or the fake server complained').to.deep.equal([]);
  });
  after(() => browser?.close());

  return {
    api,
    get page() {
      return page;
    },
    async mount(
      tag,
      {
        properties = {},
        api: table = {},
        canWrite = true,
        address = '/',
        events = [],
        viewport = DESK,
        theme = 'light',
      } = {},
    ) {
      await page.evaluate(() => window.harness.unmount());
      api.reset({ ...EMPTY_SERVER, ...table });
      await page.setViewportSize(viewport);
      const request: MountRequest = { tag, properties, canWrite, address, events, theme, now: NOW };
      await page.evaluate((given) => window.harness.mount(given), request);
      return page.locator(tag);
    },
    async mountApp({ address = '/jobs', token = 'svc_test', api: table = {} } = {}) {
      await page.evaluate(() => window.harness.unmount());
      api.reset({ ...EMPTY_SERVER, ...table });
      await page.setViewportSize(DESK);
      await page.evaluate(([at, held]) => window.harness.mountApp(at!, held!), [address, token]);
      return page.locator('svc-app');
    },
    async reload() {
      await page.evaluate(() => window.harness.unmount());
      await open();
    },
    change: (properties) => page.evaluate((given) => window.harness.change(given), properties),
    heard: () => page.evaluate(() => window.harness.heard()),
    async push(route, events, name = 'message') {
      const at = `/api/v1${route}`;
      await until(async () => (await page.evaluate(() => window.harness.openStreams())).includes(at), {
        everyMs: 40,
      });
      const text = events
        .map((event, id) => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(event)}\n\n`)
        .join('');
      await page.evaluate(([to, sent]) => window.harness.pushToStream(to!, sent!), [at, text]);
    },
    setAway: (isAway) => page.evaluate((away) => window.harness.setAway(away), isAway),
    async untilEqual(read, wanted) {
      const isEqual = async (): Promise<boolean> => isDeepStrictEqual(await read(), wanted);
      await until(isEqual, { timeoutMs: PATIENCE_MS, everyMs: 40 }).catch(() => undefined);
      expect(await read()).to.deep.equal(wanted);
    },
    async expectSound(what = '') {
      expect(await excessWidthOf(page), `${what}: pixels beside the page`).to.be.at.most(0);
      expect(await findFaults(page), what).to.deep.equal([]);
      expect(await findTurning(page), `${what}: texts that turn what follows them`).to.deep.equal([]);
    },
    screenshot: (name) => screenshot(page, name),
  };
}

/** All elements of the console and the code that mounts them, as one script. */
async function bundleHarness(): Promise<string> {
  const elements = readdirSync(path.join(UI, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(^|\/)svc-[\w-]+\.ts$/.test(file),
  );
  const imports = [...elements.map((file) => `./src/${file}`), './test/browser/harness/page.ts'];
  const { outputFiles } = await build({
    stdin: { contents: imports.map((file) => `import ${JSON.stringify(file)};`).join('\n'), resolveDir: UI },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    tsconfig: path.join(UI, 'tsconfig.json'),
    conditions: ['svc-source', 'browser'],
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

function pageText(code: string): string {
  const styles = ['tokens.css', 'base.css'].map((name) =>
    readFileSync(path.join(UI, 'src/styles', name), 'utf8'),
  );
  const script = code.replaceAll('</script', '<\\/script');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>svc</title>
<meta name="viewport" content="width=device-width"><style>${styles.join('\n')}</style></head><body></body>
<script>${script}</script></html>`;
}
