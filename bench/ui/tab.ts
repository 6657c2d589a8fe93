import type { Browser, CDPSession, Page } from 'playwright-core';

const WINDOW = { width: 1280, height: 800 };
const MB = 1_048_576;
const PATIENCE_MS = 90_000;

export interface Tab {
  readonly page: Page;
  readonly cdp: CDPSession;
  close(): Promise<void>;
}

export interface TabOptions {
  /** Signs in to svc. */
  readonly token?: string;
  readonly height?: number;
}

/** A tab with an empty cache and the scripts of `IN_PAGE`. */
export async function openTab(
  browser: Browser,
  { token, height = WINDOW.height }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: { ...WINDOW, height } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(IN_PAGE);
  if (token !== undefined)
    await page.addInitScript(`sessionStorage.setItem('svc.token', ${JSON.stringify(token)})`);
  const cdp = await context.newCDPSession(page);
  return { page, cdp, close: () => context.close() };
}

/** `bench` in each page: all elements of a selector, inside shadow roots too; what is painted; and frames. */
const IN_PAGE = `
globalThis.bench = {
  all(selector, root = document, found = []) {
    for (const element of root.querySelectorAll('*')) {
      if (element.matches(selector)) found.push(element);
      if (element.shadowRoot) this.all(selector, element.shadowRoot, found);
    }
    return found;
  },
  isInSight(element) {
    const { top, bottom, width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && top < innerHeight && bottom > 0;
  },
  /** A line of SVG, or a canvas with a pixel in it. */
  isPainted(element) {
    if (element.localName !== 'canvas') return (element.getAttribute('d') ?? '').length > 200;
    const small = Object.assign(document.createElement('canvas'), { width: 64, height: 64 });
    const context = small.getContext('2d');
    try {
      context.drawImage(element, 0, 0, 64, 64);
      return context.getImageData(0, 0, 64, 64).data.some((value) => value !== 0);
    } catch {
      return false;
    }
  },
  /** Resolves with the ms since navigation when each chart in sight, at least so many, has a painted line and has been on the screen. */
  untilDrawn(chart, line, least, patienceMs) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (performance.now() > patienceMs) reject(new Error('the charts were not drawn in ' + patienceMs + ' ms'));
        const charts = this.all(chart).filter((element) => this.isInSight(element));
        const isDrawn = (element) =>
          this.all(line, element.shadowRoot ?? element).some((part) => this.isPainted(part));
        if (charts.length < least || !charts.every(isDrawn)) return void setTimeout(look, 20);
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
      };
      look();
    });
  },
  /** The element that scrolls the most. */
  scroller() {
    const scrolls = (element) =>
      element === document.scrollingElement || /auto|scroll/.test(getComputedStyle(element).overflowY);
    const excess = (element) => element.scrollHeight - element.clientHeight;
    return this.all('*').filter(scrolls).reduce((most, one) => (excess(one) > excess(most) ? one : most));
  },
  /** Scrolls to an end by so many pixels a frame, until nothing more comes; answers the longest frame and the height. */
  async scroll(direction, pixelsPerFrame) {
    const element = this.scroller();
    let [longest, last, still, most, frames] = [0, performance.now(), performance.now(), 0, 0];
    for (;;) {
      const before = element.scrollTop;
      element.scrollTop += direction * pixelsPerFrame;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      frames += 1;
      most = Math.max(most, element.scrollHeight);
      if (Math.abs(element.scrollTop - before) > 1) still = now;
      if (now - still > 1500) return { longest, height: most, frames };
    }
  },
  /** Longest frame until \`stopFrames\` is called. */
  watchFrames() {
    this.longestFrame = 0;
    let last = performance.now();
    const step = (now) => {
      this.longestFrame = Math.max(this.longestFrame, now - last);
      last = now;
      this.watching = requestAnimationFrame(step);
    };
    this.watching = requestAnimationFrame(step);
  },
  stopFrames() {
    cancelAnimationFrame(this.watching);
    return this.longestFrame;
  },
};`;

/** The time from navigation until the charts in sight are drawn, in ms. */
export async function timeToDrawn(
  { page }: Tab,
  address: string,
  { chart, line, least }: { chart: string; line: string; least: number },
): Promise<number> {
  await page.goto(address, { waitUntil: 'commit' });
  const drawn = `bench.untilDrawn(${JSON.stringify(chart)}, ${JSON.stringify(line)}, ${least}, ${PATIENCE_MS})`;
  return page.evaluate<number>(drawn);
}

/** What JavaScript holds after a collection, in MB. */
export async function heapMb({ cdp }: Tab): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  return usedSize / MB;
}
