import { DIRECTIONS, isDirectionKnown, routes, type BodyOf, type MetricDefinition } from '@svc/contract';
import type { Command } from 'commander';
import { UsageError } from '../failure.js';
import { noteLimit } from '../output/paging.js';
import { note, print } from '../output/print.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findPlacement, type PlacementOptions } from './find-placement.js';
import { parseInteger, parseOneOf } from './parse.js';

const SHOWN = 200;
const MOST = 1000;

export function addMetricsCommands(program: Command): void {
  const metrics = program
    .command('metrics')
    .description('list and change what metrics mean')
    .addHelpText('after', '\nExample:\n  svc metrics set eval/accuracy --direction maximize');
  withJson(metrics.command('list'))
    .description(
      'list metrics with their direction and unit, as they apply everywhere, in a project or in an experiment',
    )
    .option('--project <name>', 'as they apply in this project, by name or id')
    .option('--experiment <name>', 'as they apply in this experiment, by name or id')
    .option('--limit <n>', 'number of metrics to list, at most 1000', parseInteger)
    .addHelpText('after', '\nExample:\n  svc metrics list --project vision')
    .action(listMetrics);

  withJson(metrics.command('set'))
    .description('set what a metric means: everywhere, or in one project or experiment')
    .argument('<name>', 'name of the metric, such as eval/accuracy')
    .option(
      '--direction <direction>',
      `which values are good: ${DIRECTIONS.join(', ')}`,
      parseOneOf(DIRECTIONS),
    )
    .option('--unit <unit>', 'unit of its values, such as s or %')
    .option('--description <text>', 'what it measures')
    .option('--primary', 'make it the metric by which runs are compared')
    .option('--no-primary', 'make it an ordinary metric again')
    .option('--project <name>', 'only in this project, by name or id')
    .option('--experiment <name>', 'only in this experiment, by name or id')
    .addHelpText(
      'after',
      '\nExample:\n  svc metrics set eval/accuracy --direction maximize --unit % --primary --project vision',
    )
    .action(setMetric);
}

interface ListOptions extends JsonOptions, PlacementOptions {
  readonly limit?: number;
}

async function listMetrics({ limit = SHOWN, ...options }: ListOptions): Promise<void> {
  const client = connect(options);
  const query = { ...(await findPlacement(client, options)), limit };
  const page = await client.call(routes.listMetricDefinitions, { query });
  print(page, options.json, ({ items }, paint) =>
    items.length > 0 ? toTable(COLUMNS, items, paint) : ['no metrics yet'],
  );
  if (!options.json && page.items.length === limit) noteLimit(limit, MOST);
}

interface SetOptions extends JsonOptions, PlacementOptions {
  readonly direction?: (typeof DIRECTIONS)[number];
  readonly unit?: string;
  readonly description?: string;
  readonly primary?: boolean;
}

async function setMetric(name: string, options: SetOptions): Promise<void> {
  const meaning = toMeaning(options);
  if (Object.keys(meaning).length === 0)
    throw new UsageError('say what to set: --direction, --unit, --description, --primary or --no-primary');
  const client = connect(options);
  const { project_id, experiment_id } = await findPlacement(client, options);
  const level = { ...(project_id && { project_id }), ...(experiment_id && { experiment_id }) };
  const body = { ...meaning, ...level };
  const before = await client.call(routes.listMetricDefinitions, { query: { ...level, limit: MOST } });
  const definition = await client.call(routes.putMetricDefinition, { params: { name }, body });
  print(definition, options.json, (_definition, paint) => toTable(COLUMNS, [definition], paint));
  if (!before.truncated && before.items.every((known) => known.name !== name))
    note(`no run reports ${name} yet; svc metrics list shows the names that are known`);
}

function toMeaning({
  direction,
  unit,
  description,
  primary,
}: SetOptions): BodyOf<typeof routes.putMetricDefinition> {
  return {
    ...(direction !== undefined && { direction }),
    ...(unit !== undefined && { unit: unit === '' ? null : unit }),
    ...(description !== undefined && { description }),
    ...(primary !== undefined && { is_primary: primary }),
  };
}

const COLUMNS: readonly Column<MetricDefinition>[] = [
  {
    title: 'METRIC',
    cell: ({ name, is_primary }) => (is_primary ? `${name} (primary)` : name),
    shrinks: true,
  },
  { title: 'DIRECTION', cell: (metric) => (isDirectionKnown(metric) ? metric.direction : 'unknown') },
  { title: 'UNIT', cell: ({ unit }) => unit ?? '-', shrinks: true },
  { title: 'APPLIES TO', cell: ({ level }) => (level === 'global' ? 'everything' : `the ${level}`) },
  { title: 'DESCRIPTION', cell: ({ description }) => description, shrinks: true, optional: true },
];
