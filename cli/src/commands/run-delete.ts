import { ApiError, type Client } from '@svc/client';
import { routes, type AnswerOf } from '@svc/contract';
import type { Command } from 'commander';
import { askYes } from '../ask-yes.js';
import { Failure, UsageError } from '../failure.js';
import { toSentence } from '../output/api-error.js';
import { note, print } from '../output/print.js';
import { styleOfStatus } from '../output/style.js';
import { toPlainText, toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findRun } from './find-record.js';

export function addRunDeleteCommand(run: Command): void {
  withJson(run.command('delete'))
    .description('delete runs that have ended, with their points, config, events and checkpoint records')
    .argument('<runs...>', 'ids of runs, the beginnings or ends of ids, or names (the newest of each)')
    .option('-y, --yes', 'delete without asking for confirmation')
    .addHelpText(
      'after',
      '\nThe job of a run stays, with its logs. The command never removes checkpoint files.\n\nExamples:\n  svc run delete X8R2QF\n  svc run delete X8R2QF M4K7TD --yes',
    )
    .action(deleteRuns);
}

type Run = AnswerOf<typeof routes.deleteRun>['body'];

interface DeleteOptions extends JsonOptions {
  readonly yes?: boolean;
}

/** Nothing is deleted while one of them is not found. Then each is deleted by itself: one that has to stay does not keep the others. */
async function deleteRuns(references: readonly string[], options: DeleteOptions): Promise<void> {
  const { yes, json } = options;
  if (!yes && (json || !process.stdin.isTTY))
    throw new UsageError('nobody can be asked for confirmation here: use --yes to delete the runs');
  const client = connect(options);
  const ids = new Set<string>();
  for (const reference of references) ids.add(await findRun(client, reference));
  if (!yes && !(await isConfirmed(client, [...ids]))) {
    note('nothing was deleted');
    return;
  }
  const deleted: Run[] = [];
  const problems: string[] = [];
  for (const id of ids) {
    try {
      deleted.push(await client.call(routes.deleteRun, { params: { run_id: id } }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problems.push(toSentence(error));
    }
  }
  const [only] = deleted;
  print(ids.size === 1 && only ? only : deleted, json, () => deleted.map(toDeletedLine));
  if (problems.length > 0) throw new Failure(problems.join('; '));
}

async function isConfirmed(client: Client, ids: readonly string[]): Promise<boolean> {
  const runs: Run[] = [];
  for (const run_id of ids) runs.push(await client.call(routes.getRun, { params: { run_id } }));
  print(runs, false, (_, paint) => toTable(COLUMNS, runs, paint));
  const what = runs.length === 1 ? 'this run with its' : `these ${runs.length} runs with their`;
  return askYes(
    `Delete ${what} points, config, events and checkpoint records? This cannot be undone; checkpoint files stay.`,
  );
}

const COLUMNS: readonly Column<Run>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name, shrinks: true },
  { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => styleOfStatus(status) },
  { title: 'STEP', cell: ({ step }) => String(step ?? '-'), align: 'right' },
  { title: 'TAGS', cell: ({ tags }) => tags.join(', '), shrinks: true },
];

function toDeletedLine({ id, name, job_id }: Run): string {
  const stays = job_id === null ? '' : `; its job ${job_id} stays`;
  return `${id} (${toPlainText(name)}) deleted, with its points, events and checkpoint records${stays}`;
}
