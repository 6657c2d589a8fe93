/**
 * What the index of error lines costs, and how fast a failure is explained. In turns on servers without and with the plugin `failures`: a job prints as fast as
 * it can and fails. Lines a second until the server has the last one, and the processor time of the server for them; with the plugin, the time of an answer.
 * Usage: npm run bench -- failures [--lines 1000000] [--rounds 5]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { routes } from '@svc/contract';
import { CALLS, installPackages, toConfigText, writeConfig } from '../test/support/configuration.js';
import { createWorkplace, submit, untilJob, type Server } from '../test/support/workplace.js';
import { cpuSecondsOf } from './support/process-tree.js';
import { measure, printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: { lines: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
});
const lineCount = Number(values.lines);
const rounds = Number(values.rounds);

const ERROR = "ModuleNotFoundError: No module named 'apex'";
const LOUD = `BEGIN { for (i = 0; i < ${lineCount - 1}; i++) printf "step %08d loss 0.123456 lr 3.0e-04 tokens/s 123456\\n", i; print "${ERROR}"; exit 1 }`;

interface Round {
  readonly linesPerS: number;
  readonly cpuS: number;
  readonly explainMs: readonly number[];
}

async function flood(server: Server, explains: boolean): Promise<Round> {
  const { client, pid } = server;
  const cpuBefore = cpuSecondsOf(pid);
  const { id } = await submit(client, { command: ['awk', LOUD], resources: { cpu_only: true } });
  const job = await untilJob(client, id, ({ started_at }) => started_at !== null);
  const params = { job_id: id };
  for (let stored = 0; stored < lineCount; await delay(20)) {
    const { lines } = await client.call(routes.tailLogs, { params, query: { tail: 1 } });
    stored = (lines[0]?.seq ?? -1) + 1;
  }
  const linesPerS = lineCount / ((Date.now() - (job.started_at as number)) / 1000);
  await untilJob(client, id, ({ status }) => status === 'FAILED');
  const cpuS = cpuSecondsOf(pid) - cpuBefore;
  const explain = async () => {
    const { rule } = await client.call(routes.explainJobFailure, { params, query: {} });
    if (rule !== 'missing-module') throw new Error(`the rule ${rule} explains the failure`);
  };
  return { linesPerS, cpuS, explainMs: explains ? await measure(20, explain) : [] };
}

async function measureRound(hasPlugin: boolean): Promise<Round> {
  const workplace = createWorkplace();
  try {
    const calls = CALLS.filter((call) => hasPlugin || !call.startsWith('failures('));
    installPackages(workplace.dir);
    const config = writeConfig(workplace.dir, toConfigText(calls));
    const server = await workplace.startServer({ args: ['--config', config] });
    await workplace.startAgent(server);
    return await flood(server, hasPlugin);
  } finally {
    await workplace.close();
  }
}

const without: Round[] = [];
const withPlugin: Round[] = [];
for (let round = 0; round < rounds; round += 1) {
  without.push(await measureRound(false));
  withPlugin.push(await measureRound(true));
}
const median = (all: readonly Round[], of: (round: Round) => number): number => {
  const sorted = all.map(of).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
};
const row = (name: string, of: (round: Round) => number, digits: number, unit: string) => {
  const [before, after] = [median(without, of), median(withPlugin, of)];
  const change = `${(((after - before) / before) * 100).toFixed(1)} %`;
  return [name, before.toFixed(digits), after.toFixed(digits), change, unit];
};
const explainMs = withPlugin.flatMap((round) => round.explainMs);
printTable([
  ['figure', 'without', 'with', 'change', 'unit'],
  row('lines end to end', ({ linesPerS }) => linesPerS, 0, 'lines/s'),
  row('processor time of the server', ({ cpuS }) => cpuS, 2, 's'),
  [
    'explain, first of each round',
    '',
    Math.max(...withPlugin.map((each) => each.explainMs[0] ?? 0)).toFixed(1),
    '',
    'ms, largest',
  ],
  ['explain, median and p99', '', summarise(explainMs).join(' and '), '', 'ms'],
]);
