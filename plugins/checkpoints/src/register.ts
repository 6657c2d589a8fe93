import {
  maskSecrets,
  newId,
  type Checkpoint,
  type CheckpointSource,
  type EventDraft,
  type Run,
} from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { checkMetadata } from './metadata.js';
import type { CheckpointDraft, Registered } from './service.js';
import { findTwin, insertCheckpoint } from './store.js';

/** Stores the checkpoint and its event in one transaction, unless the run has one of that path and step. */
export async function registerCheckpoint(
  { db, clock }: Pick<PluginContext, 'db' | 'clock'>,
  events: Events,
  run: Run,
  draft: CheckpointDraft,
  source: CheckpointSource,
  at: number = clock.now(),
): Promise<Registered> {
  checkMetadata(draft.metadata ?? {});
  const wanted = toCheckpoint(run, draft, source, at);
  const { checkpoint, told } = await db.transaction(async (trx) => {
    const stored = await insertCheckpoint(trx, wanted);
    if (!stored) return { checkpoint: (await findTwin(trx, wanted))!, told: [] };
    return {
      checkpoint: stored,
      told: [await events.append(trx, createdEvent(run, stored), stored.created_at)],
    };
  });
  await events.publish(told);
  return { checkpoint, isNew: told.length > 0 };
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
