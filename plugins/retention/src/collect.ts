import type { GarbageReport, Removal } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { CHECKPOINTS } from './belongings.js';
import { candidates, type Candidate } from './candidates.js';
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
  readonly db: Db;
  readonly logs: LogFolders;
  readonly remover: Remover;
}

/** Counts what is to go and, unless it is a dry run, removes it. */
export async function collect(
  parts: Parts,
  { criteria, dryRun, isOver }: CollectOrder,
): Promise<GarbageReport> {
  const { db, logs, remover } = parts;
  const items: Removal[] = [];
  let totals: Totals = { jobs: 0, runs: 0, points: 0, checkpoints: 0, events: 0, ...NO_LOGS };
  let kept = 0;
  let complete = true;
  for await (const candidate of candidates(db, criteria)) {
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
      ? await clearOrphans(db, logs, criteria.before, { dryRun })
      : NO_ORPHANS;
  const freed_bytes = dryRun ? 0 : await freeSpace(db);
  return { dry_run: dryRun, before: criteria.before, items, totals, orphans, kept, freed_bytes, complete };
}

async function weigh({ db, logs }: Parts, candidate: Candidate): Promise<Removal> {
  const { id, name, status, finished_at, jobId, runIds } = candidate;
  const jobIds = jobId === null ? [] : [jobId];
  return {
    ...{ id, name, status, finished_at, jobs: jobIds.length, runs: runIds.length },
    points: await countPoints(db, runIds),
    checkpoints: await countRows(db, CHECKPOINTS, runIds),
    events: await countEvents(db, jobIds, runIds),
    ...(jobId === null ? NO_LOGS : await logs.count(jobId)),
  };
}

/** Every seq that was taken is a point. */
async function countPoints(db: Db, runIds: readonly string[]): Promise<number> {
  const row = await db('metric_seq_ranges')
    .join('metric_runs', 'metric_runs.key', 'metric_seq_ranges.run_key')
    .whereIn('metric_runs.run_id', runIds)
    .first(db.raw('coalesce(sum(to_seq - from_seq + 1), 0) as points'));
  return Number((row as { points: unknown } | undefined)?.points);
}

/** An event of a run may name its job as well. */
async function countEvents(db: Db, jobIds: readonly string[], runIds: readonly string[]): Promise<number> {
  const row = await db('events')
    .where((either) => void either.whereIn('job_id', jobIds).orWhereIn('run_id', runIds))
    .count({ count: '*' })
    .first();
  return Number(row?.['count']);
}

function add(totals: Totals, removal: Totals): Totals {
  const names = Object.keys(totals) as (keyof Totals)[];
  return Object.fromEntries(names.map((name) => [name, totals[name] + removal[name]])) as Totals;
}
