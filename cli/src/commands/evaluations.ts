import { posix } from 'node:path';
import { routes, type Checkpoint, type Evaluation, type MetricValue } from '@svc/contract';
import type { Client } from '@svc/client';
import type { Command } from 'commander';
import { toAge, toNumber, toShownId } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { styleOfStatus, type Paint } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { CHECKPOINT_REFERENCE, findCheckpoint, findRun } from './find-record.js';
import { parseInteger } from './parse.js';

const EVALUATIONS_SHOWN = 100;

export function addEvaluationsCommand(program: Command): void {
  withJson(program.command('evaluations'))
    .description('list evaluations with their results, newest first')
    .argument('[checkpoint]', `only of this checkpoint: ${CHECKPOINT_REFERENCE}`)
    .option('--run <run>', 'only of the checkpoints of this run: id, the beginning or end of one, or a name')
    .option('--limit <n>', 'number of evaluations to list, at most 1000', parseInteger)
    .option(
      '--before <evaluation>',
      'list only evaluations older than this one, as the previous page names it',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc evaluations\n  svc evaluations --run resnet\n  svc evaluations checkpoint-120',
    )
    .action(listEvaluations);
}

interface EvaluationsOptions extends JsonOptions {
  readonly run?: string;
  readonly limit?: number;
  readonly before?: string;
}

async function listEvaluations(
  reference: string | undefined,
  { run, limit = EVALUATIONS_SHOWN, before, ...options }: EvaluationsOptions,
): Promise<void> {
  const client = connect(options);
  const query = {
    limit,
    before,
    checkpoint_id: reference && (await findCheckpoint(client, reference)),
    run_id: run && (await findRun(client, run)),
  };
  const page = await client.call(routes.listEvaluations, { query });
  const checkpoints = options.json
    ? new Map<string, Checkpoint>()
    : await readCheckpoints(client, page.items);
  print(page, options.json, ({ items }, paint) =>
    items.length > 0 ? toEvaluationTable(items, checkpoints, paint) : ['no evaluations'],
  );
  const last = page.items.at(-1);
  if (!options.json && last && (page.truncated || page.items.length === limit)) noteOlder(last.id);
}

/** Each checkpoint once. */
async function readCheckpoints(
  client: Client,
  evaluations: readonly Evaluation[],
): Promise<ReadonlyMap<string, Checkpoint>> {
  const found = new Map<string, Checkpoint>();
  for (const ckpt_id of new Set(evaluations.map(({ checkpoint_id }) => checkpoint_id)))
    found.set(ckpt_id, await client.call(routes.getCheckpoint, { params: { ckpt_id } }));
  return found;
}

export function toEvaluationTable(
  evaluations: readonly Evaluation[],
  checkpoints: ReadonlyMap<string, Pick<Checkpoint, 'path'>>,
  paint: Paint,
  width?: number,
): string[] {
  return toTable(toColumns(checkpoints), evaluations, paint, width);
}

const toColumns = (
  checkpoints: ReadonlyMap<string, Pick<Checkpoint, 'path'>>,
): readonly Column<Evaluation>[] => [
  { title: 'ID', cell: ({ id }) => toShownId(id) },
  {
    title: 'CHECKPOINT',
    cell: ({ checkpoint_id }) => posix.basename(checkpoints.get(checkpoint_id)?.path ?? checkpoint_id),
    shrinks: true,
  },
  { title: 'RUN', cell: ({ run_id }) => toShownId(run_id) },
  { title: 'SUITE', cell: ({ suite }) => suite ?? '-', shrinks: true, optional: true },
  { title: 'DATASET', cell: toDataset, shrinks: true, optional: true },
  { title: 'STATUS', cell: ({ status }) => status, style: ({ status }) => styleOfStatus(status) },
  { title: 'CREATED', cell: ({ created_at }) => toAge(created_at), optional: true },
  { title: 'RESULT', cell: toResult, shrinks: true },
];

function toDataset({ dataset, dataset_version }: Evaluation): string {
  return dataset_version === null ? (dataset ?? '-') : `${dataset ?? '-'} ${dataset_version}`;
}

/** `eval/acc 0.92, eval/loss 0.3`, or why there is none. */
function toResult({ metrics, error }: Evaluation): string {
  if (error !== null) return error;
  return Object.entries(metrics)
    .map(([name, value]: [string, MetricValue]) => `${name} ${toNumber(value)}`)
    .join(', ');
}
