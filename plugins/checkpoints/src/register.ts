import {
  maskSecrets,
  newId,
  type Checkpoint,
  type CheckpointSource,
  type EventDraft,
  type Run,
} from '@svc/contract';
import { fail, isMissingReference, type Db, type PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { checkMetadata } from './metadata.js';
import type { CheckpointDraft, Registered } from './service.js';
import { completeFound, findAtPath, findSame, insertCheckpoint, markPresent } from './store.js';

/**
 * Stores the checkpoint and its event in one transaction, unless the run has one of that path and step. Of what a watcher finds, the path
 * alone counts; what the training reports of a checkpoint that a watcher has found completes that one.
 */
export async function registerCheckpoint(
  { transaction, clock }: Pick<PluginContext, 'transaction' | 'clock'>,
  events: Events,
  run: Run,
  draft: CheckpointDraft,
  source: CheckpointSource,
  at: number = clock.now(),
): Promise<Registered> {
  checkMetadata(draft.metadata ?? {});
  const wanted = toCheckpoint(run, draft, source, at);
  return transaction(async (tx) => {
    const known = await knownAt(tx, wanted);
    if (known) return { checkpoint: known, isNew: false };
    const stored = await insertCheckpoint(tx, wanted);
    if (!stored) return { checkpoint: (await findSame(tx, wanted))!, isNew: false };
    await events.append(tx, createdEvent(run, stored), stored.created_at);
    return { checkpoint: stored, isNew: true };
  }).catch((error: unknown) => {
    // The run was there when the request was let in, and has been removed since.
    if (isMissingReference(error)) fail('not_found', `no run "${run.id}"`);
    throw error;
  });
}

/** The checkpoint that is the same file, reported by a watcher and by the training. */
async function knownAt(db: Db, wanted: Checkpoint): Promise<Checkpoint | null> {
  const [newest, ...others] = await findAtPath(db, wanted);
  if (newest === undefined) return null;
  // Seen again, it may have been written on; what the training says of it counts.
  if (wanted.source === 'watcher')
    return newest.source === 'watcher' ? completeFound(db, newest, wanted) : markPresent(db, newest);
  const found = [newest, ...others].find(({ source }) => source === 'watcher');
  return found ? completeFound(db, found, wanted) : null;
}

function toCheckpoint(
  run: Run,
  { path, step, epoch, size, metadata }: CheckpointDraft,
  source: CheckpointSource,
  at: number,
): Checkpoint {
  return {
    id: newId('checkpoint', at),
    run_id: run.id,
    step: step ?? null,
    epoch: epoch ?? null,
    size: size ?? null,
    path,
    metadata: { ...maskSecrets(metadata ?? {}), evaluations: [] },
    source,
    created_at: at,
    deleted_at: null,
  };
}

function createdEvent(run: Run, { id, path, step, epoch, size }: Checkpoint): EventDraft {
  return {
    type: 'CHECKPOINT_CREATED',
    title: `Run ${run.name} saved a checkpoint${step === null ? '' : ` at step ${step}`}`,
    message: path,
    run_id: run.id,
    job_id: run.job_id,
    data: { checkpoint_id: id, step, epoch, size, path },
  };
}
