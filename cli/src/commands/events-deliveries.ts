import { DELIVERY_STATUSES, routes, type Delivery, type DeliveryStatus } from '@svc/contract';
import type { Command } from 'commander';
import { toAge, toShownId } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findEvent } from './find-record.js';
import { parseInteger, parseOneOf } from './parse.js';

const SHOWN = 100;

export function addEventsDeliveriesCommand(events: Command): void {
  withJson(events.command('deliveries'))
    .description('list what became of events at the targets of push with at-least-once, newest first')
    .option('--target <name>', 'only deliveries to this target')
    .option(
      '--status <status>',
      `only deliveries in this state: ${DELIVERY_STATUSES.join(', ')}`,
      parseOneOf(DELIVERY_STATUSES),
    )
    .option('--event <event>', 'only deliveries of this event, by its id, or the beginning or end of it')
    .option('--limit <n>', 'number of deliveries to list, at most 1000', parseInteger)
    .option('--before <delivery>', 'list only deliveries older than this one, as the previous page names it')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events deliveries --status FAILED\n  svc events deliveries --target phone',
    )
    .action(listDeliveries);
}

interface DeliveriesOptions extends JsonOptions {
  readonly target?: string;
  readonly status?: DeliveryStatus;
  readonly event?: string;
  readonly limit?: number;
  readonly before?: string;
}

async function listDeliveries({ event, limit = SHOWN, ...options }: DeliveriesOptions): Promise<void> {
  const client = connect(options);
  const { target, status, before, json } = options;
  const event_id = event === undefined ? undefined : await findEvent(client, event);
  const page = await client.call(routes.listDeliveries, {
    query: { target, status, event_id, limit, before },
  });
  print(page, json, ({ items }, paint) =>
    items.length > 0 ? toTable(COLUMNS, items, paint) : ['no deliveries'],
  );
  const last = page.items.at(-1);
  if (!json && last && (page.truncated || page.items.length === limit)) noteOlder(last.id);
}

const COLUMNS: readonly Column<Delivery>[] = [
  { title: 'WHEN', cell: ({ created_at }) => toAge(created_at) },
  { title: 'TARGET', cell: ({ target }) => target, shrinks: true },
  { title: 'EVENT', cell: ({ event_id }) => toShownId(event_id) },
  {
    title: 'STATUS',
    cell: ({ status }) => status,
    style: ({ status }) => (status === 'FAILED' ? 'red' : null),
  },
  { title: 'TRIES', cell: ({ tries }) => String(tries), align: 'right' },
  { title: 'LAST ERROR', cell: ({ last_error }) => last_error ?? '-', shrinks: true },
];
