import { routes, type JobAttempt } from '@svc/contract';
import type { Command } from 'commander';
import { toFailureNote } from '../output/failure-words.js';
import { toDuration, toShownId, toTime } from '../output/format.js';
import { print } from '../output/print.js';
import { styleOfStatus, type Paint } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findJob, JOB_REFERENCE } from './find-record.js';
import { readNodeNames } from './node-names.js';

export function addAttemptCommands(program: Command): void {
  withJson(program.command('attempts'))
    .description('list the attempts of a job and how each ended, newest first (at most 1000)')
    .argument('[job]', JOB_REFERENCE)
    .addHelpText(
      'after',
      '\nEXIT is the exit code of the process, or -N when signal N ended it (-15 is SIGTERM). `svc submit --follow` then exits with 128 + N, as a shell does.\n\nExample:\n  svc attempts X8R2QF',
    )
    .action(listAttempts);
}

async function listAttempts(reference: string | undefined, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const list = await client.call(routes.listJobAttempts, {
    params: { job_id: await findJob(client, reference) },
    query: { limit: 1000 },
  });
  const nodes = options.json ? new Map<string, string>() : await readNodeNames(client, list.items);
  print(list, options.json, ({ items }, paint) => toAttemptLines(items, nodes, paint));
}

export function toAttemptLines(
  attempts: readonly JobAttempt[],
  nodes: ReadonlyMap<string, string>,
  paint: Paint,
): string[] {
  return toTable(toColumns(nodes), attempts, paint);
}

const toColumns = (nodes: ReadonlyMap<string, string>): readonly Column<JobAttempt>[] => [
  { title: 'ATTEMPT', cell: ({ attempt }) => String(attempt), align: 'right' },
  { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => styleOfStatus(status) },
  { title: 'EXIT', cell: ({ exit_code }) => String(exit_code ?? '-'), align: 'right' },
  { title: 'STARTED', cell: ({ started_at }) => toTime(started_at), optional: true },
  { title: 'RAN FOR', cell: toRunTime, align: 'right' },
  { title: 'NODE', cell: ({ node_id }) => nodes.get(node_id ?? '') ?? node_id ?? '-', shrinks: true },
  { title: 'RUN', cell: ({ run_id }) => toShownId(run_id) },
  { title: 'WHY', cell: toFailureNote, shrinks: true },
];

/** For jobs and attempts alike. */
export function toRunTime({
  started_at,
  finished_at,
}: Pick<JobAttempt, 'started_at' | 'finished_at'>): string {
  return started_at === null ? '-' : toDuration((finished_at ?? Date.now()) - started_at);
}
