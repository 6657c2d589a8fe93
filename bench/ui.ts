/**
 * The console in Chromium, on the built server with generated data: time to drawn, frames while scrolling, and memory while it is live.
 * Usage: npm run bench -- ui [--only load,charts,compare,scroll,log,live] [--rounds 5] [--runs 10000] [--lines 100000]
 *   [--log-rate 2000] [--log-seconds 300] [--live-hours 24] [--beside tensorboard,mlflow,trackio,aim]
 */
import os from 'node:os';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../test/support/browser.js';
import { requireProgram } from '../test/support/engines.js';
import { createWorkplace } from '../test/support/workplace.js';
import { printTable } from './support/report.js';
import { measureBeside } from './ui/beside.js';
import { measureCharts, measureComparison, measureLoad } from './ui/drawing.js';
import { measureLiveDay, measureLiveLog } from './ui/live.js';
import type { Stage } from './ui/stage.js';
import { measureScrolling } from './ui/scrolling.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'load,charts,compare,scroll,log,live' },
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '10000' },
    lines: { type: 'string', default: '100000' },
    'log-rate': { type: 'string', default: '2000' },
    'log-seconds': { type: 'string', default: '300' },
    'live-hours': { type: 'string', default: '24' },
    beside: { type: 'string', default: '' },
  },
});
const peers = values.beside.split(',').filter(Boolean);
const log = { linesPerSecond: Number(values['log-rate']), seconds: Number(values['log-seconds']) };
const PARTS: Readonly<Record<string, (stage: Stage) => Promise<string[][]>>> = {
  load: measureLoad,
  charts: measureCharts,
  compare: measureComparison,
  scroll: (stage) => measureScrolling(stage, { runs: Number(values.runs), lines: Number(values.lines) }),
  log: (stage) => measureLiveLog(stage, log),
  live: (stage) => measureLiveDay(stage, Number(values['live-hours'])),
};

const load = () =>
  os
    .loadavg()
    .map((one) => one.toFixed(1))
    .join(', ');
const before = load();
const workplace = createWorkplace();
const browser = await launchBrowser(requireProgram('chromium'));
try {
  const server = await workplace.startServer();
  await workplace.startAgent(server);
  const stage: Stage = {
    server,
    browser,
    token: server.client.connection.token ?? '',
    rounds: Number(values.rounds),
  };
  const rows = [['figure', 'budget', 'median', 'worst', 'unit']];
  for (const part of values.only.split(',').filter(Boolean)) {
    const measure = PARTS[part];
    if (measure === undefined) throw new Error(`there is no part ${part}: ${Object.keys(PARTS).join(', ')}`);
    rows.push(
      ...(await measure(stage).catch((error: Error) => [
        [part, '', `not measured: ${error.message.split('\n')[0]}`, '', ''],
      ])),
    );
  }
  printTable(rows);
  if (peers.length > 0) {
    console.log();
    printTable(await measureBeside(stage, peers));
  }
  console.log(`load ${before} before, ${load()} after, on ${os.availableParallelism()} cores`);
} finally {
  await browser.close();
  await workplace.close();
}
