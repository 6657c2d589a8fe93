import type { Client } from '@svc/client';
import {
  routes,
  type BestCheckpoint,
  type CheckpointComparison,
  type CheckpointEntry,
  type Direction,
  type RunComparison,
  type RunEntry,
} from '@svc/contract';
import type { Command } from 'commander';
import { Failure, UsageError } from '../failure.js';
import { toNumber, toShownId } from '../output/format.js';
import { print } from '../output/print.js';
import { section } from '../output/section.js';
import type { Paint } from '../output/style.js';
import { toFields, toPlainText, toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findPlacement, type PlacementOptions } from './find-placement.js';
import { findCheckpoint, findRun } from './find-record.js';
import { toActionLines } from './next-actions.js';

const CHECKPOINT_PREFIX = 'ckpt_';

export function addRankingCommands(program: Command): void {
  withRanking(program.command('best'))
    .description('show the best checkpoint of a run or an experiment')
    .option('--run <run>', 'run to look at: id, the beginning or end of one, or a name (default: the newest)')
    .option('--project <name>', 'project of the experiment, by name or id')
    .option('--experiment <name>', 'experiment to look at, by name or id')
    .addHelpText(
      'after',
      '\nWithout an evaluation, the value of a checkpoint is the best one that its training\nlogged since the checkpoint before it.\n\nExamples:\n  svc best\n  svc best --experiment resnet --metric eval/acc --suite heldout',
    )
    .action(showBest);

  withRanking(program.command('compare'))
    .description('compare runs, or checkpoints, best first')
    .argument('<records...>', 'two to 50 runs, or checkpoints: ids, the beginnings or ends of ids, or names')
    .option('--checkpoints', 'compare checkpoints (default when the first one begins with ckpt_)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc compare X8R2QF M4K7TD\n  svc compare --checkpoints checkpoint-120 checkpoint-240 --metric loss',
    )
    .action(compare);
}

/** Adds the options that say which values count. */
function withRanking(command: Command): Command {
  return withJson(command)
    .option('--metric <name>', 'metric to rank by (default: the primary one)')
    .option('--suite <name>', 'count only evaluations of this suite')
    .option('--dataset <name>', 'count only evaluations of this dataset')
    .option('--dataset-version <name>', 'count only evaluations of this version of the dataset');
}

interface RankingOptions extends JsonOptions {
  readonly metric?: string;
  readonly suite?: string;
  readonly dataset?: string;
  readonly datasetVersion?: string;
}

interface BestOptions extends RankingOptions, PlacementOptions {
  readonly run?: string;
}

async function showBest({ run, ...options }: BestOptions): Promise<void> {
  const query = toQuery(options);
  if (run !== undefined && options.experiment !== undefined)
    throw new UsageError('--run cannot be used with --experiment: name one of them');
  if (options.project !== undefined && options.experiment === undefined)
    throw new UsageError('--project needs --experiment: it says in which project the experiment is');
  const client = connect(options);
  const scope =
    options.experiment === undefined
      ? { run_id: await findRun(client, run) }
      : { experiment_id: (await findPlacement(client, options)).experiment_id };
  const best = await client.call(routes.recommendCheckpoint, { query: { ...scope, ...query } });
  print(best, options.json, toBestLines);
}

async function compare(
  references: string[],
  { checkpoints, ...options }: RankingOptions & { checkpoints?: boolean },
): Promise<void> {
  if (references.length < 2) throw new UsageError('name 2 to 50 to compare, as in svc compare X8R2QF M4K7TD');
  const client = connect(options);
  const ofCheckpoints = checkpoints ?? references[0]?.startsWith(CHECKPOINT_PREFIX) ?? false;
  const ids = await findAll(client, ofCheckpoints ? findCheckpoint : findRunToCompare, references);
  const query = { ids, ...toQuery(options) };
  if (ofCheckpoints) {
    const answer = await client.call(routes.compareCheckpoints, { query });
    print(answer, options.json, (comparison, paint) => toComparisonLines(comparison, paint));
  } else {
    const answer = await client.call(routes.compareRuns, { query });
    print(answer, options.json, (comparison, paint) => toComparisonLines(comparison, paint));
  }
}

const findRunToCompare = (client: Client, reference: string) =>
  findRun(client, reference).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(`${error.message}; to compare checkpoints, add --checkpoints`);
  });

async function findAll(
  client: Client,
  find: (client: Client, reference: string) => Promise<string>,
  references: readonly string[],
): Promise<string> {
  const ids: string[] = [];
  for (const reference of references) ids.push(await find(client, reference));
  return ids.join(',');
}

function toQuery({ metric, suite, dataset, datasetVersion }: RankingOptions) {
  return { metric, suite, dataset, dataset_version: datasetVersion };
}

export function toBestLines(best: BestCheckpoint, paint: Paint): string[] {
  const { checkpoint, metric, direction, value, tied_checkpoint_ids: tied } = best;
  return [
    `${paint('bold', best.checkpoint_id)}  ${toPlainText(metric)} ${paint('green', toNumber(value))}`,
    ...toFields(
      [
        ['path', checkpoint.path],
        ['run', best.run_id],
        ['step', String(best.step ?? '-')],
        ['direction', `${direction}: ${toWanted(direction)} is better`],
        ['value from', toOrigin(best)],
        ...(tied.length > 0 ? [['tied', tied.join(', ')] as const] : []),
      ],
      paint,
    ),
    ...section('Next', toActionLines(best.next_actions), paint),
  ];
}

export function toComparisonLines(comparison: RunComparison | CheckpointComparison, paint: Paint): string[] {
  const { metric, entries, next_actions } = comparison;
  return [
    `${paint('bold', toPlainText(metric))}, ${toPlainText(toMeaning(comparison))}`,
    ...toTable<Entry>(COLUMNS, entries, paint),
    ...section('Next', toActionLines(next_actions), paint),
  ];
}

/** `higher is better (suite heldout, dataset digits)`. */
function toMeaning({ direction, protocol, entries }: RunComparison | CheckpointComparison): string {
  if (!entries.some(({ best }) => best !== null)) return 'no value in any of these';
  const labels = Object.entries(protocol ?? {}).filter(([, label]) => label !== null);
  const shown = labels.map(([name, label]) => `${name} ${label}`).join(', ');
  return `${toWanted(direction)} is better${shown === '' ? '' : ` (${shown})`}`;
}

type Entry = RunEntry | CheckpointEntry;

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'RANK', cell: ({ rank, is_best }) => `${rank ?? '-'}${is_best ? ' *' : ''}` },
  {
    title: 'ID',
    cell: (entry) => toShownId('checkpoint_id' in entry ? entry.checkpoint_id : entry.run_id),
    style: ({ is_best }) => (is_best ? 'green' : null),
  },
  { title: 'NAME', cell: ({ name }) => name, shrinks: true },
  { title: 'BEST', cell: ({ best }) => (best === null ? '-' : toNumber(best)), align: 'right' },
  { title: 'FROM', cell: ({ best_source }) => (best_source === null ? '-' : toSource(best_source)) },
  { title: 'STEP', cell: ({ step }) => String(step ?? '-'), align: 'right' },
  { title: 'LATEST', cell: ({ latest }) => (latest === null ? '-' : toNumber(latest)), align: 'right' },
];

/** The training may have logged it before the step of the checkpoint. */
function toOrigin({ source, evaluation_id, value_step }: BestCheckpoint): string {
  if (evaluation_id !== null) return `evaluation ${evaluation_id}`;
  return value_step === null ? toSource(source) : `${toSource(source)}, logged at step ${value_step}`;
}

function toSource(source: BestCheckpoint['source']): string {
  return source === 'evaluation' ? 'evaluation' : 'training';
}

function toWanted(direction: Direction): string {
  return direction === 'minimize' ? 'lower' : 'higher';
}
