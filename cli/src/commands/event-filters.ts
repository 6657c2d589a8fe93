import type { Client } from '@svc/client';
import { EVENT_TYPES, routes, SEVERITIES, type Severity } from '@svc/contract';
import type { Command } from 'commander';
import { note } from '../output/print.js';
import { findJob, findNode, findRun, NODE_REFERENCE } from './find-record.js';
import { parseOneOf } from './parse.js';

/** The options that choose events. */
export function withFilters(command: Command): Command {
  return command
    .option(
      '--severity <severity>',
      `only events of this severity: ${SEVERITIES.join(', ')}`,
      parseOneOf(SEVERITIES),
    )
    .option(
      '--type <type>',
      `only events of this type, such as ${EVENT_TYPES.slice(0, 3).join(', ')}`,
      parseType,
    )
    .option('--job <job>', 'only events of this job, by id, the beginning or end of one, or name')
    .option('--run <run>', 'only events of this run, by id, the beginning or end of one, or name')
    .option('--node <node>', `only events of this node: ${NODE_REFERENCE}`);
}

/** A plugin may add types, so that others are taken too. The completion reads `choices`. */
const parseType = Object.assign((text: string) => text.toUpperCase(), { choices: EVENT_TYPES });

export interface EventFilters {
  readonly severity?: Severity;
  readonly type?: string;
  readonly job?: string;
  readonly run?: string;
  readonly node?: string;
}

/** The filters as the server takes them. Says on stderr when there is no event of a type that is not known. */
export async function toEventQuery(client: Client, { severity, type, job, run, node }: EventFilters) {
  const job_id = job === undefined ? undefined : await findJob(client, job);
  const run_id = run === undefined ? undefined : await findRun(client, run);
  const node_id = node === undefined ? undefined : await findNode(client, node);
  if (type !== undefined && !EVENT_TYPES.some((known) => known === type)) await noteIfNone(client, type);
  return { severity, type, job_id, run_id, node_id };
}

async function noteIfNone(client: Client, type: string): Promise<void> {
  const { items } = await client.call(routes.listEvents, { query: { type, limit: 1 } });
  if (items.length === 0)
    note(`there is no event of type ${type}; types that svc itself has: ${EVENT_TYPES.join(', ')}`);
}
