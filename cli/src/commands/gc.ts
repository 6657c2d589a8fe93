import { REMOVABLE_STATES, type GarbageReport, type Removal, type RemovableState } from '@svc/contract';
import type { GarbageOrder } from '@svc/plugin-retention';
import { InvalidArgumentError, type Command } from 'commander';
import { askYes } from '../ask-yes.js';
import type { DataDirOptions } from '../data-dir.js';
import { UsageError } from '../failure.js';
import { createGarbageCollector, type CollectGarbage } from '../garbage-collector.js';
import { parseDuration, toAge, toSize } from '../output/format.js';
import { note, print } from '../output/print.js';
import type { Paint } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';
import { withJson, type JsonOptions } from './connected.js';
import { parseEachOf } from './parse.js';

const CONFIRM = 'Remove all of this? This cannot be undone.';

export function addGcCommand(program: Command): void {
  withJson(program.command('gc'))
    .description('remove old jobs and runs with all their data')
    .option('--dry-run', 'only list and count what would be removed')
    .option(
      '--older-than <time>',
      'remove only what finished at least this long ago, such as 12h or 30d (default: 30d)',
      parseAge,
    )
    .option('--project <project>', 'remove only jobs and runs of this project, by name or id')
    .option(
      '--state <state...>',
      `remove only jobs and runs that ended in these states: ${REMOVABLE_STATES.join(', ')}`,
      parseEachOf(REMOVABLE_STATES),
    )
    .option('--keep-tagged <tag>', 'keep runs with this tag, and their jobs (default: keep)')
    .option('-y, --yes', 'remove without asking for confirmation')
    .option('--config <file>', 'configuration file to use while no server runs')
    .addHelpText(
      'after',
      '\nThe command never removes checkpoint files on the agents.\n\nExamples:\n  svc gc --dry-run\n  svc gc --older-than 90d --project vision --state failed cancelled --yes',
    )
    .action(collectGarbage);
}

interface GcOptions extends JsonOptions, DataDirOptions {
  readonly dryRun?: boolean;
  readonly olderThan?: number;
  readonly project?: string;
  readonly state?: readonly RemovableState[];
  readonly keepTagged?: string;
  readonly yes?: boolean;
}

async function collectGarbage(options: GcOptions): Promise<void> {
  const { dryRun, yes, json } = options;
  const mayAsk = process.stdin.isTTY && json !== true;
  if (!dryRun && !yes && !mayAsk)
    throw new UsageError('use --dry-run to see what would be removed, or --yes to remove it');
  const collect = createGarbageCollector(options);
  const order = toOrder(options);
  if (dryRun || !yes) {
    const plan = await collect({ ...order, dry_run: true });
    print(plan, json, toLines);
    if (dryRun || isNothing(plan) || !(await askYes(CONFIRM))) return;
  }
  print(await removeAll(collect, order), json, toLines);
}

function toOrder({ olderThan, project, state, keepTagged }: GcOptions): GarbageOrder {
  return {
    ...(olderThan !== undefined && { older_than_s: olderThan / 1000 }),
    ...(project !== undefined && { project }),
    ...(state !== undefined && { states: [...state] }),
    ...(keepTagged !== undefined && { keep_tag: keepTagged }),
  };
}

/** A request removes for a while; it is repeated until nothing is left. */
async function removeAll(collect: CollectGarbage, order: GarbageOrder): Promise<GarbageReport> {
  let whole = await collect({ ...order, dry_run: false });
  while (!whole.complete) {
    note(`${toSum(whole.totals)} removed so far`);
    whole = join(whole, await collect({ ...order, dry_run: false }));
  }
  return whole;
}

function join(first: GarbageReport, next: GarbageReport): GarbageReport {
  const names = Object.keys(first.totals) as (keyof GarbageReport['totals'])[];
  const totals = Object.fromEntries(names.map((name) => [name, first.totals[name] + next.totals[name]]));
  return {
    ...next,
    items: [...first.items, ...next.items],
    totals: totals as GarbageReport['totals'],
    freed_bytes: first.freed_bytes + next.freed_bytes,
  };
}

function isNothing({ totals, orphans }: GarbageReport): boolean {
  return [...Object.values(totals), ...Object.values(orphans)].every((count) => count === 0);
}

function toLines(report: GarbageReport, paint: Paint): string[] {
  const { dry_run, items, totals, orphans, kept, freed_bytes } = report;
  const listed = items.length < totals.jobs + countLoneRuns(report) ? ['...'] : [];
  const verb = dry_run ? 'would be removed' : 'removed';
  return [
    ...(items.length > 0 ? [...toTable(COLUMNS, items, paint), ...listed, ''] : []),
    isNothing(report) ? 'nothing is old enough to be removed' : `${verb}: ${toSum(totals)}`,
    ...(Object.values(orphans).some((count) => count > 0)
      ? [`${verb}, because they belong to no job: ${toOrphans(orphans)}`]
      : []),
    ...(kept > 0 ? [`kept because of the tag: ${kept}`] : []),
    ...(freed_bytes > 0 ? [`the database is ${toSize(freed_bytes)} smaller`] : []),
  ];
}

function countLoneRuns({ items }: GarbageReport): number {
  return items.filter(({ jobs }) => jobs === 0).length;
}

function toSum({
  jobs,
  runs,
  points,
  checkpoints,
  events,
  log_files,
  log_bytes,
}: GarbageReport['totals']): string {
  return `${jobs} jobs, ${runs} runs, ${points} points, ${checkpoints} checkpoint records, ${events} events, ${log_files} logs (${toSize(log_bytes)})`;
}

function toOrphans({ events, log_files, log_bytes, ...rest }: GarbageReport['orphans']): string {
  const snapshots = `${rest.snapshots} snapshots (${toSize(rest.snapshot_bytes)})`;
  return `${events} events, ${log_files} logs (${toSize(log_bytes)}), ${snapshots}`;
}

const COLUMNS: readonly Column<Removal>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'STATUS', cell: ({ status }) => status },
  { title: 'FINISHED', cell: ({ finished_at }) => toAge(finished_at) },
  { title: 'RUNS', cell: ({ runs }) => String(runs), align: 'right' },
  { title: 'POINTS', cell: ({ points }) => String(points), align: 'right' },
  { title: 'LOGS', cell: ({ log_bytes }) => toSize(log_bytes), align: 'right' },
];

function parseAge(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError('It must be a time such as 90s, 15m, 12h or 30d.');
  return ms;
}
