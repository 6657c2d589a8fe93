/**
 * The log in the console, in Chromium, on the built server and agent:
 * 1. A log of `--lines` lines is scrolled through from its end to its start, so that all of it is read on the way: the time between frames.
 * 2. The time from the last key of a search to the match, which is in the first line.
 * 3. A job prints at `--rate` lines a second for `--seconds`: frames while the page follows, and the heap after each tenth of it.
 *    600 000 lines, as by default, are 5 minutes at 2 000 lines a second.
 * Usage: SVC_TEST_CHROMIUM=/usr/bin/chromium npm run bench -- log-view [--lines 100000] [--rate 10000] [--seconds 60]
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchBrowser, signIn } from '../test/support/browser.js';
import { createWorkplace, submit, untilJob } from '../test/support/workplace.js';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
  },
});
const [lines, rate, seconds] = [Number(values.lines), Number(values.rate), Number(values.seconds)];

const LONG = `process.stdout.write('the first line\\n' + Array.from({ length: ${lines} }, (_, at) => 'step ' + at + ' loss 0.123456 lr 3.0e-04\\n').join(''))`;
const STEADY = `
  const startMs = performance.now();
  let printed = 0;
  const timer = setInterval(() => {
    const due = Math.min(${rate * seconds}, (performance.now() - startMs) * ${rate / 1000});
    let text = '';
    for (; printed < due; printed += 1) text += 'step ' + printed + ' loss 0.123456 lr 3.0e-04\\n';
    process.stdout.write(text);
    if (printed >= ${rate * seconds}) clearInterval(timer);
  }, 5);
`;

interface Frames {
  readonly count: number;
  readonly longestMs: number;
  readonly over50Ms: number;
  /** Of the page itself, over 50 ms: the frames beyond them waited for the machine. */
  readonly longTasks: number;
}

const WATCH_FRAMES = `(() => {
  const frames = { count: 0, longestMs: 0, over50Ms: 0, longTasks: 0, isOver: false };
  new PerformanceObserver((list) => (frames.longTasks += list.getEntries().length)).observe({ type: 'longtask' });
  let last = performance.now();
  const look = (now) => {
    frames.count += 1;
    frames.longestMs = Math.max(frames.longestMs, now - last);
    if (now - last > 50) frames.over50Ms += 1;
    last = now;
    if (!frames.isOver) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  window.frames_ = frames;
})()`;

async function framesOf(page: Page, work: () => Promise<unknown>): Promise<Frames> {
  await page.evaluate(WATCH_FRAMES);
  await work();
  return page.evaluate('window.frames_.isOver = true, window.frames_');
}

/** Up by a fixed way in each frame. */
const SCROLL_UP = (pixels: number) => `new Promise((resolve) => {
  const view = document.querySelector('svc-app').shadowRoot.querySelector('svc-job-page').shadowRoot.querySelector('svc-log-view');
  const scroller = view.shadowRoot.querySelector('.scroll');
  const step = () => {
    if (scroller.scrollTop <= 0) return resolve();
    scroller.scrollTop -= ${pixels};
    requestAnimationFrame(step);
  };
  step();
})`;

const workplace = createWorkplace();
const browser = await launchBrowser(process.env['SVC_TEST_CHROMIUM'] ?? '');
try {
  const server = await workplace.startServer();
  await workplace.startAgent(server);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(server.url);
  await signIn(page, readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim());
  await page.getByRole('link', { name: 'Jobs' }).first().waitFor();
  const run = (code: string) =>
    submit(server.client, { command: [process.execPath, '-e', code], resources: { cpu_only: true } });

  const long = await run(LONG);
  await untilJob(server.client, long.id, ({ status }) => status === 'SUCCEEDED');
  await page.goto(`${server.url}/jobs/${long.id}`);
  const last = page.locator('svc-log-view .row .text').getByText(`step ${lines - 1} `);
  await last.waitFor();
  for (const pixels of [400, 4000]) {
    await page.getByRole('button', { name: 'Go to the start of the log' }).click();
    await page.getByRole('button', { name: 'Jump to the newest line' }).click();
    await last.waitFor();
    const frames = await framesOf(page, () => page.evaluate(SCROLL_UP(pixels)));
    console.log(`${lines} lines, ${pixels} px a frame:`, frames);
  }
  await page.getByRole('button', { name: 'Jump to the newest line' }).click();
  await last.waitFor();
  const search = page.getByLabel('Search the log');
  const startMs = performance.now();
  await search.fill('the first line');
  await page.locator('svc-log-view .row.current').getByText('the first line').waitFor();
  console.log(`search, with 250 ms for the typing: ${Math.round(performance.now() - startMs)} ms`);

  const steady = await run(STEADY);
  await page.goto(`${server.url}/jobs/${steady.id}`);
  await page.locator('svc-log-view .row').first().waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.enable');
  const heapsMiB: number[] = [];
  const frames = await framesOf(page, async () => {
    for (let tenth = 0; tenth < 10; tenth += 1) {
      await delay(seconds * 100);
      const { usedSize } = await devtools.send('Runtime.getHeapUsage');
      heapsMiB.push(Math.round(usedSize / 2 ** 20));
    }
  });
  await untilJob(server.client, steady.id, ({ status }) => status === 'SUCCEEDED');
  await page
    .locator('svc-log-view .row .text')
    .getByText(`step ${rate * seconds - 1} `)
    .waitFor();
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  console.log(`${rate * seconds} lines at ${rate} a second, followed:`, frames);
  console.log(
    `heap in MiB: ${heapsMiB.join(' ')}, at the end after a collection ${Math.round(usedSize / 2 ** 20)}`,
  );
} finally {
  await browser.close();
  await workplace.close();
}
