import { metricNames, reportRun } from './data.js';
import { inRounds, toRow, type Stage } from './stage.js';
import { timeToDrawn } from './tab.js';

export const CHARTS = 40;
export const STEPS = 1_000;
const COMPARED = 50;
const COMPARED_METRICS = 10;
const SLOWDOWN = 4;
/** So high that all charts are in sight. */
const TALL = 8_000;
const PLOT = { chart: 'svc-chart', line: '.uplot canvas' };

/** The first load of the console: its scripts as they come over the network, and the largest contentful paint. */
export async function measureLoad(stage: Stage): Promise<string[][]> {
  const { server, token } = stage;
  const figures = await inRounds(stage, { token }, async ({ page, cdp }) => {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await page.goto(server.url);
    await page.locator('svc-overview-page h2').first().waitFor();
    await page.waitForTimeout(1_000);
    return page.evaluate<{ paintMs: number; scriptBytes: number }>(`new Promise((resolve) => {
      const scripts = performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'));
      const scriptBytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
      new PerformanceObserver((list) => resolve({ paintMs: list.getEntries().at(-1).startTime, scriptBytes }))
        .observe({ type: 'largest-contentful-paint', buffered: true });
    })`);
  });
  return [
    toRow(
      'first load: scripts, compressed',
      '150',
      figures.map(({ scriptBytes }) => scriptBytes / 1_000),
      'kB',
    ),
    toRow(
      `first load: largest contentful paint, processor ${SLOWDOWN} times slower`,
      '1000',
      figures.map(({ paintMs }) => paintMs),
      'ms',
    ),
  ];
}

async function reportCharts({ server }: Stage): Promise<string> {
  const id = await reportRun(server.client, { name: 'many charts', metrics: CHARTS, steps: STEPS });
  return `${server.url}/runs/${id}`;
}

/** Of a run page in a usual window: each round's ms from navigation until its charts in sight are drawn. */
export async function measureInSight(stage: Stage): Promise<number[]> {
  const address = await reportCharts(stage);
  return inRounds(stage, { token: stage.token }, (tab) => timeToDrawn(tab, address, { ...PLOT, least: 1 }));
}

/** A run page, from navigation to drawn: the charts in a usual window, and all at once in one as high as they are. */
export async function measureCharts(stage: Stage): Promise<string[][]> {
  const { token } = stage;
  const inSight = await measureInSight(stage);
  const address = await reportCharts(stage);
  const all = await inRounds(stage, { token, height: TALL }, (tab) =>
    timeToDrawn(tab, address, { ...PLOT, least: CHARTS }),
  );
  const what = `run page of ${CHARTS} charts of ${STEPS} points`;
  return [
    toRow(`${what}: those in sight drawn`, '1000', inSight, 'ms'),
    toRow(`${what}: all drawn, in a window of ${TALL} px`, '1000', all, 'ms'),
  ];
}

export async function measureComparison(stage: Stage): Promise<string[][]> {
  const { server, token } = stage;
  const ids: string[] = [];
  for (let run = 0; run < COMPARED; run++)
    ids.push(
      await reportRun(server.client, {
        name: `compared ${run}`,
        metrics: COMPARED_METRICS,
        steps: STEPS,
        config: { lr: 1e-4 * (1 + run), batch: 2 ** (run % 5) },
      }),
    );
  const metrics = metricNames(COMPARED_METRICS).map(encodeURIComponent).join(',');
  const address = `${server.url}/compare?runs=${ids.join(',')}&metrics=${encodeURIComponent(metrics)}`;
  const drawn = await inRounds(stage, { token, height: TALL }, (tab) =>
    timeToDrawn(tab, address, { ...PLOT, least: COMPARED_METRICS }),
  );
  return [toRow(`compare of ${COMPARED} runs × ${COMPARED_METRICS} metrics: all drawn`, '2000', drawn, 'ms')];
}
