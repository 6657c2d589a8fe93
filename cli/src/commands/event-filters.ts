import type { Client } from '@svc/client';
import { EVENT_TYPES, SEVERITIES, type Severity } from '@svc/contract';
import type { Command } from 'commander';
import { findJob, findRun } from './find-record.js';
import { parseOneOf } from './parse.js';

/** The options that choose events. */
export function withFilters(command: Command): Command {
  return command
    .option(
      '--severity <severity>',
      `only events of this severity: ${SEVERITIES.join(', ')}`,
      parseOneOf(SEVERITIES),
    )
    .option('--type <type>', `only events of this type, such as ${EVENT_TYPES.slice(0, 3).join(', ')}`)
    .option('--job <job>', 'only events of this job, by id, the beginning or end of one, or name')
    .option('--run <run>', 'only events of this run, by id, the beginning or end of one, or name');
}

export interface EventFilters {
  readonly severity?: Severity;
  readonly type?: string;
  readonly job?: string;
  readonly run?: string;
}

/** The filters as the server takes them. */
export async function toEventQuery(client: Client, { severity, type, job, run }: EventFilters) {
  const job_id = job === undefined ? undefined : await findJob(client, job);
  const run_id = run === undefined ? undefined : await findRun(client, run);
  return { severity, type: type?.toUpperCase(), job_id, run_id };
}
