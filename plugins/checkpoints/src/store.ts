import { createHash } from 'node:crypto';
import type { Checkpoint } from '@svc/contract';
import {
  fail,
  fromJson,
  newestRows,
  orWhereHolds,
  requireId,
  rowsOfOwners,
  toJson,
  toSearchWords,
  yieldIfSliceOver,
  type Db,
  type Listed,
  type Page,
} from '@svc/kernel';
import type { RunPlaceFilter, Runs } from '@svc/plugin-runs';
import type { CheckpointPlace, FoundCheckpoint } from './service.js';

const IDS_PER_STATEMENT = 100;

interface CheckpointRow extends Omit<Checkpoint, 'metadata'> {
  readonly digest: string;
  readonly metadata: string;
}

/** The checkpoint as stored, or null when its run already has one of that path and step. */
export async function insertCheckpoint(db: Db, checkpoint: Checkpoint): Promise<Checkpoint | null> {
  const { evaluations: _evaluations, ...metadata } = checkpoint.metadata;
  const row = { ...checkpoint, metadata: toJson(metadata), digest: toDigest(checkpoint) };
  const [stored] = await checkpoints(db)
    .insert(row)
    .onConflict(['run_id', 'digest'])
    .ignore()
    .returning<CheckpointRow[]>('*');
  return stored ? fromRow(stored) : null;
}

/** The stored checkpoint with the same run, path and step. */
export async function findSame(
  db: Db,
  wanted: Pick<Checkpoint, 'run_id' | 'path' | 'step'>,
): Promise<Checkpoint | null> {
  const row = await checkpoints(db)
    .where({ run_id: wanted.run_id, digest: toDigest(wanted) })
    .first();
  return row ? fromRow(row) : null;
}

/** Those of the run with that path, newest first. */
export async function findAtPath(
  db: Db,
  { run_id, path }: Pick<Checkpoint, 'run_id' | 'path'>,
): Promise<Checkpoint[]> {
  const rows = await checkpoints(db).where({ run_id, path }).orderBy('created_at', 'desc');
  return rows.map(fromRow);
}

/** It is there (again). */
export async function markPresent(db: Db, checkpoint: Checkpoint): Promise<Checkpoint> {
  if (checkpoint.deleted_at === null) return checkpoint;
  await checkpoints(db).where({ id: checkpoint.id }).update({ deleted_at: null });
  return { ...checkpoint, deleted_at: null };
}

export async function markGone(db: Db, runId: string, path: string, at: number): Promise<void> {
  await checkpoints(db).where({ run_id: runId, path }).whereNull('deleted_at').update({ deleted_at: at });
}

/** What the training, or the watcher later, says of a checkpoint that a watcher has found; what it leaves out stays. */
export async function completeFound(db: Db, found: Checkpoint, said: Checkpoint): Promise<Checkpoint> {
  const complete: Checkpoint = {
    ...found,
    step: said.step ?? found.step,
    epoch: said.epoch ?? found.epoch,
    size: said.size ?? found.size,
    metadata: { ...found.metadata, ...said.metadata },
    source: said.source,
    deleted_at: null,
  };
  const { step, epoch, size, source } = complete;
  const { evaluations: _evaluations, ...metadata } = complete.metadata;
  await checkpoints(db)
    .where({ id: found.id })
    .update({
      step,
      epoch,
      size,
      source,
      deleted_at: null,
      metadata: toJson(metadata),
      digest: toDigest(complete),
    });
  return complete;
}

/** Any form of id; throws not_found. */
export async function requireCheckpoint(db: Db, runs: Runs, id: string): Promise<Checkpoint> {
  const rows = await checkpoints(db).where({ id: requireId('checkpoint', id) });
  const [row] = await ofPresentRuns(db, runs, rows);
  return row ? fromRow(row) : fail('not_found', `no checkpoint "${id}"`);
}

async function ofPresentRuns<R extends { readonly run_id: string }>(
  db: Db,
  runs: Runs,
  rows: readonly R[],
): Promise<R[]> {
  const present = await runs.find(db, [...new Set(rows.map(({ run_id }) => run_id))]);
  const runIds = new Set(present.map(({ id }) => id));
  return rows.filter(({ run_id }) => runIds.has(run_id));
}

/**
 * Those of these that exist: the rows of a run that is being deleted may be there for a while. They may be many: other requests run in
 * between.
 */
export async function findCheckpoints(
  db: Db,
  runs: Runs,
  ids: readonly string[],
): Promise<FoundCheckpoint[]> {
  const found: FoundCheckpoint[] = [];
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    const rows: FoundCheckpoint[] = await checkpoints(db)
      .whereIn('id', ids.slice(first, first + IDS_PER_STATEMENT))
      .select('id', 'run_id', 'step', 'created_at', 'deleted_at', 'path');
    found.push(...(await ofPresentRuns(db, runs, rows)));
    await yieldIfSliceOver();
  }
  return found;
}

export interface CheckpointFilter {
  readonly run_id?: string | undefined;
  readonly experiment_id?: string | undefined;
  readonly project_id?: string | undefined;
  /** Words of the path and of the name of the run. */
  readonly q?: string | undefined;
}

/** Newest first; every filter given is applied. */
export async function listCheckpoints(
  db: Db,
  runs: Pick<Runs, 'matching'>,
  { run_id, q = '', ...placement }: CheckpointFilter,
  page: Page,
): Promise<Listed<Checkpoint>> {
  const words = toSearchWords(q);
  const isPlaced = Object.values(placement).some((id) => id !== undefined);
  const ofRun = (filter: RunPlaceFilter) =>
    runs.matching(db, filter, 'checkpoints.run_id').select(db.raw('1'));
  const { items, ...rest } = await newestRows<CheckpointRow>(db, {
    from: 'checkpoints',
    where(query) {
      if (run_id !== undefined) query.where({ run_id });
      // As a condition on each row: the database walks the checkpoints in their order and stops at the limit.
      if (isPlaced) query.whereExists(ofRun(placement));
      for (const word of words)
        query.where((either) => {
          orWhereHolds(either, 'path', word);
          void either.orWhereExists(ofRun({ word }));
        });
    },
    isSearch: isPlaced || words.length > 0,
    ...page,
  });
  return { items: items.map(fromRow), ...rest };
}

/** By run, and oldest first. */
export async function checkpointsOfRuns(db: Db, runIds: readonly string[]): Promise<CheckpointPlace[]> {
  const found: CheckpointPlace[] = [];
  const pages = rowsOfOwners<CheckpointPlace>(db, {
    owner: 'run_id',
    ids: runIds,
    query: () => checkpoints(db).select('id', 'run_id', 'step', 'created_at', 'deleted_at'),
  });
  for await (const page of pages) found.push(...page);
  return found;
}

function toDigest({ path, step }: Pick<Checkpoint, 'path' | 'step'>): string {
  return createHash('sha256')
    .update(toJson([path, step]))
    .digest('hex');
}

function fromRow({ digest: _digest, metadata, ...rest }: CheckpointRow): Checkpoint {
  return { ...rest, metadata: { ...fromJson<object>(metadata), evaluations: [] } };
}

function checkpoints(db: Db) {
  return db<CheckpointRow>('checkpoints');
}
