import { routes, type EventRecord } from '@svc/contract';
import type { Command } from 'commander';
import { toAge, toShownId } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { styleOfSeverity } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { addEventsDeliveriesCommand } from './events-deliveries.js';
import { addEventsWatchCommand } from './events-watch.js';
import { toEventQuery, withFilters, type EventFilters } from './event-filters.js';
import { findEvent } from './find-record.js';
import { readNodeNames } from './node-names.js';
import { parseInteger } from './parse.js';

const EVENTS_SHOWN = 100;

export function addEventsCommands(program: Command): void {
  const events = withJson(withFilters(program.command('events')))
    .description('list events, newest first')
    .option('--limit <n>', 'number of events to list, at most 1000', parseInteger)
    .option('--before <event>', 'list only events older than this one, as the previous page names it')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events --severity critical\n  svc events --job train.py --type OOM',
    )
    .action(listEvents);
  addEventsWatchCommand(events);
  addEventsDeliveriesCommand(events);
}

interface ListOptions extends JsonOptions, EventFilters {
  readonly limit?: number;
  readonly before?: string;
}

async function listEvents({ limit = EVENTS_SHOWN, before, ...options }: ListOptions): Promise<void> {
  const client = connect(options);
  const query = {
    ...(await toEventQuery(client, options)),
    limit,
    before: before && (await findEvent(client, before)),
  };
  const page = await client.call(routes.listEvents, { query });
  const nodes = options.json ? new Map<string, string>() : await readNodeNames(client, page.items);
  print(page, options.json, ({ items }, paint) =>
    items.length > 0 ? toTable(toColumns(nodes), items, paint) : ['no events'],
  );
  const last = page.items.at(-1);
  if (!options.json && last && (page.truncated || page.items.length === limit)) noteOlder(last.id);
}

const toColumns = (nodes: ReadonlyMap<string, string>): readonly Column<EventRecord>[] => [
  { title: 'WHEN', cell: ({ created_at }) => toAge(created_at) },
  { title: 'SEVERITY', cell: ({ severity }) => severity, style: ({ severity }) => styleOfSeverity(severity) },
  { title: 'TYPE', cell: ({ type }) => type, shrinks: true },
  { title: 'JOB', cell: ({ job_id }) => toShownId(job_id) },
  { title: 'RUN', cell: ({ run_id }) => toShownId(run_id), optional: true },
  {
    title: 'NODE',
    cell: ({ node_id }) => nodes.get(node_id ?? '') ?? toShownId(node_id),
    shrinks: true,
    optional: true,
  },
  { title: 'TITLE', cell: ({ title }) => title, shrinks: true },
];
