import { setTimeout as delay } from 'node:timers/promises';
import { routes } from '@svc/contract';
import { submit, untilJob } from '../../test/support/workplace.js';
import { pointsFrom } from '../metrics/points.js';
import { createRuns, metricNames } from './data.js';
import { toRow, type Stage } from './stage.js';
import { heapMb, openTab, type Tab } from './tab.js';

/** By then what is drawn once is drawn, and the kept lines are as many as are kept. */
const WARM_SHARE = 0.2;
const LIVE_METRICS = 5;
const STEPS_PER_HOUR = 3_600;
const STEPS_PER_BATCH = 60;
const BATCH_MS = 60;
const RUNS_PER_HOUR = 20;

/** A log that is followed while a job prints: memory from the warm start to the end, and the longest frame between. */
export async function measureLiveLog(
  { server, browser, token }: Stage,
  { linesPerSecond, seconds }: { linesPerSecond: number; seconds: number },
): Promise<string[][]> {
  const program = `const startMs = Date.now(); let printed = 0;
    setInterval(() => { for (const due = (Date.now() - startMs) * ${linesPerSecond / 1000}; printed < due; printed++)
      console.log('step ' + printed + ' loss 0.123456 lr 3.0e-04 tokens/s 123456'); }, 20);`;
  const { id } = await submit(server.client, {
    command: [process.execPath, '-e', program],
    resources: { cpu_only: true },
  });
  const tab = await openTab(browser, { token });
  try {
    await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    await tab.page.goto(`${server.url}/jobs/${id}`);
    await tab.page
      .getByText(/step \d+ loss/)
      .first()
      .waitFor();
    const { grownMb, heldMb, longestMs } = await watch([tab], async (warm) => {
      await delay(seconds * 1_000 * WARM_SHARE);
      await warm();
      await delay(seconds * 1_000 * (1 - WARM_SHARE));
    });
    const what = `log at ${linesPerSecond} lines a second for ${seconds} s`;
    return [
      toRow(`${what}: heap at the end`, '', [heldMb], 'MB'),
      toRow(`${what}: heap grown`, 'steady', [grownMb], 'MB'),
      toRow(`${what}: longest frame`, '', [longestMs], 'ms'),
    ];
  } finally {
    await tab.close();
    await server.client.call(routes.cancelJob, { params: { job_id: id } });
    await untilJob(server.client, id, ({ finished_at }) => finished_at !== null);
  }
}

/** As many points, runs and events as in so many hours, in minutes: the page of a run that reports each second, and the first page. */
export async function measureLiveDay(stage: Stage, hours: number): Promise<string[][]> {
  const { server, browser, token } = stage;
  const { id } = await server.client.call(routes.createRun, { body: { name: 'a day' } });
  const names = metricNames(LIVE_METRICS);
  const report = async (hour: number): Promise<void> => {
    for (let step = 0; step < STEPS_PER_HOUR; step += STEPS_PER_BATCH) {
      const first = (hour * STEPS_PER_HOUR + step) * LIVE_METRICS;
      const points = pointsFrom(first, STEPS_PER_BATCH * LIVE_METRICS, names);
      await server.client.call(routes.writePoints, { params: { run_id: id }, body: { points } });
      await delay(BATCH_MS);
    }
    await createRuns(server.client, RUNS_PER_HOUR);
  };
  const tabs = [await openTab(browser, { token }), await openTab(browser, { token })];
  const addresses = [`/runs/${id}`, '/'];
  try {
    await report(0);
    for (const [at, tab] of tabs.entries()) {
      await tab.page.goto(server.url + addresses[at]);
      await tab.page.getByRole('heading', { level: 1 }).first().waitFor();
    }
    const warmHours = Math.ceil(hours * WARM_SHARE);
    const figures = await watch(tabs, async (warm) => {
      for (let hour = 1; hour < hours; hour++) {
        if (hour === warmHours) await warm();
        await report(hour);
      }
      await delay(5_000);
    });
    const what = `${hours} hours of live updates, accelerated`;
    return [
      toRow(`${what}: heap of both pages at the end`, '', [figures.heldMb], 'MB'),
      toRow(`${what}: heap grown`, 'no growth', [figures.grownMb], 'MB'),
      toRow(`${what}: longest frame`, '', [figures.longestMs], 'ms'),
    ];
  } finally {
    for (const tab of tabs) await tab.close();
  }
}

interface Watched {
  /** From the warm start to the end, of all tabs. */
  readonly grownMb: number;
  readonly heldMb: number;
  readonly longestMs: number;
}

/** `work` calls `warm` when the memory is to be counted from. */
async function watch(
  tabs: readonly Tab[],
  work: (warm: () => Promise<void>) => Promise<void>,
): Promise<Watched> {
  const heldBy = async () => {
    let sum = 0;
    for (const tab of tabs) sum += await heapMb(tab);
    return sum;
  };
  let warmMb = NaN;
  await work(async () => {
    warmMb = await heldBy();
    for (const { page } of tabs) await page.evaluate('bench.watchFrames()');
  });
  const longest = await Promise.all(tabs.map(({ page }) => page.evaluate<number>('bench.stopFrames()')));
  const heldMb = await heldBy();
  return { grownMb: heldMb - warmMb, heldMb, longestMs: Math.max(...longest) };
}
