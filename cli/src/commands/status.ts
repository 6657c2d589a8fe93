import type { Command } from 'commander';
import { toAge, toDuration, toShownId, toWaitReason } from '../output/format.js';
import { print } from '../output/print.js';
import type { Paint } from '../output/style.js';
import { terminalWidth, toFields, type Field } from '../output/table.js';
import { cutToWidth, toLines } from '../output/text-width.js';
import { readOverview, type Overview, type Usage } from '../overview.js';
import { connect, withJson, type JsonOptions } from './connected.js';

const NAME_WIDTH = 40;
const VALUES_AT = 'GPU slots  '.length;

export function addStatusCommand(program: Command): void {
  withJson(program.command('status'))
    .description(
      'show the state of the server: nodes, slots, jobs per state, what waits and why, runs that are silent',
    )
    .addHelpText('after', '\nExample:\n  svc status')
    .action(showStatus);
}

async function showStatus(options: JsonOptions): Promise<void> {
  print(await readOverview(connect(options)), options.json, toStatusLines);
}

export function toStatusLines(overview: Overview, paint: Paint): string[] {
  const { url, version, uptime_s, nodes, jobs, runs, oldest_queued: oldest } = overview;
  const stale = runs.stale === 0 ? '' : ` (${runs.stale} stale)`;
  const newest = runs.is_partial ? ['among the newest 1000 of each'] : [];
  return [
    `${paint('bold', `svc ${version}`)} at ${url}, up for ${toDuration(uptime_s * 1000)}`,
    ...toFields(
      [
        ...inRows('nodes', toCounts(nodes), 'none; to add this host, run: svc agent'),
        ['GPU slots', toUse(overview.gpu_slots)],
        ['CPU jobs', toUse(overview.cpu_jobs)],
        ...inRows('jobs', toCounts(jobs), 'none'),
        ...(oldest === null
          ? []
          : ([
              [
                'waiting',
                `${toShownId(oldest.id)} (${cutToWidth(oldest.name, NAME_WIDTH)}) longest, queued ${toAge(oldest.queued_at)}: ${toWaitReason(oldest.pending_reason)}`,
                'cut',
              ],
            ] as const)),
        ...inRows('runs', [`${runs.running} RUNNING${stale}`, `${runs.lost} LOST`, ...newest]),
      ],
      paint,
    ),
  ];
}

/** `2 ONLINE`, `1 OFFLINE`: what there is none of is left out. */
function toCounts(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
}

/** The words with commas, in as many rows as the terminal needs. */
function inRows(name: string, words: readonly string[], none = ''): Field[] {
  const listed = words.map((word, at) => (at < words.length - 1 ? `${word},` : word));
  const rows = toLines(listed, ' ', terminalWidth() - VALUES_AT);
  return rows.length === 0 ? [[name, none]] : rows.map((row, at) => [at === 0 ? name : '', row]);
}

function toUse({ used, free, unavailable = 0 }: Usage): string {
  const out = unavailable === 0 ? '' : `, ${unavailable} take no job`;
  return `${used} of ${used + free + unavailable} used, ${free} free${out}`;
}
