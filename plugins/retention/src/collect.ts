import type { GarbageReport, Removal } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Metrics } from '@svc/plugin-metrics';
import { belongingsOf } from './belongings.js';
import type { Candidate, Candidates } from './candidates.js';
import { isEverything, type Criteria } from './criteria.js';
import { freeSpace } from './free-space.js';
import { NO_LOGS, type LogFolders } from './log-folders.js';
import { NO_ORPHANS, clearOrphans } from './orphans.js';
import type { Remover } from './removal.js';
import { countRows } from './rows.js';

/** More are counted and not listed. */
const LISTED = 1000;

type Totals = GarbageReport['totals'];

export interface CollectOrder {
  readonly criteria: Criteria;
  readonly dryRun: boolean;
  /** Asked after each removal: true ends the work where it is. */
  isOver(): boolean;
}

export interface Parts {
  readonly ctx: Pick<PluginContext, 'db' | 'fire' | 'registered'>;
  readonly candidates: Candidates;
  readonly logs: LogFolders;
  readonly metrics: Metrics;
  readonly remover: Remover;
}

/** Counts what is to go and, unless it is a dry run, removes it. */
export async function collect(
  parts: Parts,
  { criteria, dryRun, isOver }: CollectOrder,
): Promise<GarbageReport> {
  const { ctx, candidates, logs, remover } = parts;
  const items: Removal[] = [];
  let totals: Totals = { jobs: 0, runs: 0, points: 0, checkpoints: 0, events: 0, ...NO_LOGS };
  let kept = 0;
  let complete = true;
  for await (const candidate of candidates.list(criteria)) {
    if (candidate.isKept) {
      kept += 1;
      continue;
    }
    const removal = await weigh(parts, candidate);
    if (!dryRun && !(await remover.remove(candidate, criteria))) continue;
    totals = add(totals, removal);
    if (items.length < LISTED) items.push(removal);
    complete = !isOver();
    if (!complete) break;
  }
  const orphans =
    complete && isEverything(criteria)
      ? await clearOrphans(ctx, logs, criteria.before, { dryRun })
      : NO_ORPHANS;
  const freed_bytes = dryRun ? 0 : await freeSpace(ctx.db);
  return { dry_run: dryRun, before: criteria.before, items, totals, orphans, kept, freed_bytes, complete };
}

async function weigh({ ctx, logs, metrics }: Parts, candidate: Candidate): Promise<Removal> {
  const { subject, isKept: _, ...record } = candidate;
  const all = belongingsOf(ctx.registered.tables, subject);
  const ofKind = (wanted: string) => all.filter((rows) => rows.kind === wanted);
  return {
    ...record,
    jobs: subject.job.length,
    runs: subject.run.length,
    points: await metrics.count(ctx.db, subject.run),
    checkpoints: await countRows(ctx.db, ofKind('checkpoint')),
    events: await countRows(ctx.db, ofKind('event')),
    ...(subject.job.length > 0 ? await logs.count(record.id) : NO_LOGS),
  };
}

function add(totals: Totals, removal: Totals): Totals {
  const names = Object.keys(totals) as (keyof Totals)[];
  return Object.fromEntries(names.map((name) => [name, totals[name] + removal[name]])) as Totals;
}
