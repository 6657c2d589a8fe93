import { toShownId } from '../output/format.js';
import type { Paint } from '../output/style.js';
import { toPlainText, toTable, type Column } from '../output/table.js';
import { cutToWidth } from '../output/text-width.js';
import type { Skipped } from './reading/skips.js';
import type { ImportReport, RunReport } from './report.js';

const SHOWN = 20;
/** Of a reason. */
const METRICS_SHOWN = 5;
const NAME_WIDTH = 60;

/** The report for people. */
export function toReportLines(report: ImportReport, paint: Paint): string[] {
  const { runs, left_out } = report;
  const skipped = runs.flatMap((run) =>
    run.skipped.map((one) => `skipped in ${nameOf(run)}: ${toSkippedText(one)}`),
  );
  const left = left_out.map(({ path, reason }) => `left out: ${path}: ${reason}`);
  const failed = runs.filter(({ error }) => error !== null).map((run) => `failed: ${run.path}: ${run.error}`);
  return [
    ...(runs.length > 0 ? [...toTable(COLUMNS, runs, paint), ''] : []),
    ...[failed, skipped, left].flatMap(cut).map(toPlainText),
    toSum(report),
  ];
}

/** `3 x a value that is no number: text (2), note (1); first: record 4`. */
function toSkippedText({ reason, count, first, metrics }: Skipped): string {
  const all = Object.entries(metrics);
  const names = all.slice(0, METRICS_SHOWN).map(([name, its]) => `${cutToWidth(name, NAME_WIDTH)} (${its})`);
  const isCut = all.length > METRICS_SHOWN || all.reduce((sum, [, its]) => sum + its, 0) < count;
  const shown = names.length === 0 ? '' : `: ${[...names, ...(isCut ? ['others'] : [])].join(', ')}`;
  return `${count} x ${reason}${shown}; first: ${first}`;
}

const nameOf = ({ name, path }: RunReport): string => name ?? path;

function cut(lines: readonly string[]): string[] {
  if (lines.length <= SHOWN) return [...lines];
  return [...lines.slice(0, SHOWN), `... and ${lines.length - SHOWN} more, which --json lists`];
}

const COLUMNS: readonly Column<RunReport>[] = [
  { title: 'RUN', cell: ({ run_id }) => toShownId(run_id) },
  { title: 'NAME', cell: nameOf, shrinks: true },
  { title: 'SOURCE', cell: ({ source }) => source },
  { title: 'RESULT', cell: toResult, style: ({ error }) => (error === null ? null : 'red') },
  { title: 'NEW POINTS', cell: ({ points }) => toCount(points), align: 'right' },
  {
    title: 'NEW CHECKPOINTS',
    cell: ({ checkpoints }) => toCount(checkpoints),
    align: 'right',
    optional: true,
  },
  { title: 'NEW EVENTS', cell: ({ events }) => toCount(events), align: 'right', optional: true },
  { title: 'SKIPPED', cell: ({ skipped }) => String(countOf(skipped)), align: 'right', optional: true },
];

function toResult(run: RunReport): string {
  if (run.error !== null) return 'failed';
  if (run.is_new) return 'new';
  if (run.skipped.some(({ reason }) => reason === 'it has no metrics')) return 'empty';
  return hasGrown(run) ? 'grown' : 'already there';
}

function hasGrown({ points, checkpoints, events }: RunReport): boolean {
  return points.added + checkpoints.added + events.added > 0;
}

/** What is new, of how many where some were there before. */
function toCount({ added, known }: RunReport['points']): string {
  return known > 0 ? `${added} of ${added + known}` : String(added);
}

function countOf(skipped: RunReport['skipped']): number {
  return skipped.reduce((sum, { count }) => sum + count, 0);
}

function toSum({ runs, left_out, dry_run }: ImportReport): string {
  const sum = (of: (run: RunReport) => number) => runs.reduce((total, run) => total + of(run), 0);
  const added = runs.filter(({ is_new }) => is_new).length;
  const known = runs.filter(({ is_new, run_id }) => !is_new && run_id !== null).length;
  const parts = [
    `${added} new runs, ${known} already there`,
    `${sum(({ points }) => points.added)} points`,
    `${sum(({ checkpoints }) => checkpoints.added)} checkpoints`,
    `${sum(({ events }) => events.added)} events`,
  ];
  const not = [
    `${sum(({ skipped }) => countOf(skipped))} records skipped`,
    `${left_out.length} paths left out`,
    `${runs.filter(({ error }) => error !== null).length} runs failed`,
  ];
  return `${dry_run ? 'would come in' : 'came in'}: ${parts.join(', ')}; ${not.join(', ')}`;
}
