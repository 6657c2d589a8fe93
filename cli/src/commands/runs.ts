import {
  RUN_STATUSES,
  percentDone,
  routes,
  type Run,
  type RunSummary,
  type SeriesByName,
} from '@svc/contract';
import type { Command } from 'commander';
import { toAge, toShownId } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { styleOfStatus, type Paint, type Style } from '../output/style.js';
import { terminalWidth, toFields, toPlainText, toTable, type Column, type Field } from '../output/table.js';
import { toRunTime } from './attempts.js';
import { toCheckpointLines } from './checkpoint-lines.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findPlacement, type PlacementOptions } from './find-placement.js';
import { findJob, findRun, RUN_REFERENCE } from './find-record.js';
import { CURVE_WIDTH, toMetricTable, toUnknownLines } from './metric-table.js';
import { readNodeOfRun, readNodesOfRuns, readProjectNames } from './node-names.js';
import { parseInteger, parseOneOf, parseRepeated } from './parse.js';
import { toRecordLines } from './record-lines.js';
import { addRunChangeCommands } from './run-changes.js';
import { addRunDeleteCommand } from './run-delete.js';

const RUNS_SHOWN = 100;
const SHOWN_CHECKPOINTS = 5;
const SHOWN_CONFIG = 30;
const SHOWN_ENVIRONMENT = 10;

type Document = Readonly<Record<string, unknown>>;

export function addRunCommands(program: Command): void {
  withJson(program.command('runs'))
    .description('list runs, newest first')
    .option(
      '--status <status>',
      `only runs with this status: ${RUN_STATUSES.join(', ')}`,
      parseOneOf(RUN_STATUSES),
    )
    .option('--job <job>', 'only runs of this job, by id, the beginning or end of one, or name')
    .option('--name <name>', 'only runs with exactly this name')
    .option('--project <name>', 'only runs of this project, by name or id')
    .option('--experiment <name>', 'only runs of this experiment, by name or id')
    .option('--search <words>', 'only runs with every word in the name, or as beginning or end of the id')
    .option('--tag <tag>', 'only runs with this tag; may be repeated', parseRepeated)
    .option('--limit <n>', 'number of runs to list, at most 1000', parseInteger)
    .option('--before <run>', 'only runs older than this one, as the previous page names it')
    .addHelpText(
      'after',
      '\nExamples:\n  svc runs --status running\n  svc runs --project vision --search "resnet lr" --tag best',
    )
    .action(listRuns);

  const run = withJson(program.command('run'))
    .description(
      'show a run: progress, health, each metric with its curve, config, environment, and the newest checkpoints',
    )
    .argument('[run]', RUN_REFERENCE)
    .addHelpText('after', '\nExamples:\n  svc run\n  svc run X8R2QF')
    .action(showRun);
  addRunChangeCommands(run);
  addRunDeleteCommand(run);
}

interface ListOptions extends JsonOptions, PlacementOptions {
  readonly status?: Run['status'];
  readonly job?: string;
  readonly name?: string;
  readonly limit?: number;
  readonly before?: string;
  readonly search?: string;
  readonly tag?: readonly string[];
}

async function listRuns({
  status,
  name,
  job,
  limit,
  before,
  search,
  tag,
  ...options
}: ListOptions): Promise<void> {
  const client = connect(options);
  const query = {
    ...(await findPlacement(client, options)),
    status,
    name,
    job_id: job && (await findJob(client, job)),
    q: search,
    tags: tag?.join(','),
    limit: limit ?? RUNS_SHOWN,
    before: before && (await findRun(client, before)),
  };
  const page = await client.call(routes.listRuns, { query });
  const names = options.json
    ? []
    : await Promise.all([readNodesOfRuns(client, page.items), readProjectNames(client, page.items)]);
  const nameOf = new Map(names.flatMap((some) => [...some]));
  print(page, options.json, ({ items }, paint) => toRunTable(items, nameOf, paint));
  const last = page.items.at(-1);
  if (!options.json && last && (page.truncated || page.items.length === query.limit)) noteOlder(last.id);
}

/** `names`: of the nodes by the ids of the runs, and of the projects by their own. */
export function toRunTable(
  runs: readonly Run[],
  names: ReadonlyMap<string, string>,
  paint: Paint,
  width?: number,
): string[] {
  return runs.length > 0 ? toTable(toRunColumns(names), runs, paint, width) : ['no runs'];
}

const toRunColumns = (names: ReadonlyMap<string, string>): readonly Column<Run>[] => [
  { title: 'ID', cell: (run) => toShownId(run.id) },
  { title: 'NAME', cell: (run) => run.name, shrinks: true },
  {
    title: 'PROJECT',
    cell: ({ project_id }) => names.get(project_id ?? '') ?? '-',
    shrinks: true,
    optional: true,
  },
  { title: 'STATUS', cell: toState, style: styleOfState },
  { title: 'STEP', cell: toStep, align: 'right' },
  { title: 'STARTED', cell: (run) => toAge(run.started_at), optional: true },
  { title: 'RAN FOR', cell: toRunTime, align: 'right', optional: true },
  { title: 'NODE', cell: (run) => names.get(run.id) ?? '-', shrinks: true, optional: true },
  { title: 'SOURCE', cell: (run) => run.source, optional: true },
  { title: 'TAGS', cell: (run) => run.tags.join(', '), shrinks: true },
];

/** A stale run has reported nothing for so long that it will be LOST. */
function toState({ status, stale_since }: Run): string {
  return stale_since === null ? status : `${status}, stale`;
}

function styleOfState({ status, stale_since }: Run): Style {
  return stale_since === null ? styleOfStatus(status) : 'yellow';
}

function toStep({ step, max_steps }: Pick<Run, 'step' | 'max_steps'>): string {
  if (step === null) return '-';
  return max_steps === null ? String(step) : `${step}/${max_steps}`;
}

async function showRun(reference: string | undefined, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const params = { run_id: await findRun(client, reference) };
  const [run, summary, { series }, checkpoints] = await Promise.all([
    client.call(routes.getRun, { params }),
    client.call(routes.getRunSummary, { params }),
    client.call(routes.readSeries, { params, query: { limit: CURVE_WIDTH * 8 } }),
    client.call(routes.listRunCheckpoints, { params, query: { limit: SHOWN_CHECKPOINTS } }),
  ]);
  if (options.json) return print({ ...run, summary }, true, () => []);
  const node = checkpoints.items.length > 0 ? await readNodeOfRun(client, run) : '-';
  print(run, false, (_run, paint) => [
    ...toRunLines(run, summary, series, paint),
    ...toCheckpointLines(checkpoints.items, node, paint),
  ]);
}

export function toRunLines(
  run: Run,
  summary: RunSummary,
  series: SeriesByName,
  paint: Paint,
  width = terminalWidth(),
): string[] {
  const { health } = summary;
  const percent = percentDone(summary);
  const rows = Object.entries(summary.metrics)
    .map(([name, metric]) => ({ name, metric }))
    .sort((a, b) => Number(b.metric.is_primary) - Number(a.metric.is_primary));
  return [
    `${paint('bold', toPlainText(run.name))}  ${paint(styleOfState(run), toState(run))}`,
    ...toFields(
      [
        ['id', run.id],
        ['job', run.job_id ?? '-'],
        ['step', `${toStep(summary)}${percent === null ? '' : ` (${percent} %)`}`],
        ['health', [health.status, ...health.reasons].join(', ')],
        ['started', toAge(run.started_at)],
        ...toOrigin(run),
      ],
      paint,
    ),
    ...(rows.length > 0 ? ['', ...toMetricTable(rows, series, paint, width)] : []),
    ...toUnknownLines(rows, paint),
    ...toDocumentLines(run, paint, width),
  ];
}

/** Secrets in them are `***` already: the server masks them before it stores them. */
function toDocumentLines({ id, config, environment }: Run, paint: Paint, width: number): string[] {
  const shared = { whole: `svc run ${toShownId(id)} --json`, paint, width };
  return [
    ...toRecordLines('Config', config as Document, { shown: SHOWN_CONFIG, ...shared }),
    ...toRecordLines('Environment', environment as Document, { shown: SHOWN_ENVIRONMENT, ...shared }),
  ];
}

/** What people wrote about the run, and the commit that its script was at. */
function toOrigin({ tags, notes, environment }: Run): Field[] {
  const { git } = environment as { git?: { commit?: string; branch?: string | null; dirty?: boolean } };
  const state = [git?.branch, git?.dirty ? 'with changes' : null].filter(Boolean).join(', ');
  return [
    ...(tags.length > 0 ? [['tags', tags.join(', '), 'cut'] as const] : []),
    ...(notes !== '' ? [['notes', notes] as const] : []),
    ...(git?.commit ? [['commit', `${git.commit}${state && ` (${state})`}`] as const] : []),
  ];
}
