import { DispatchFailed, type AttemptDraft } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import { stat } from 'node:fs/promises';

/** The variable with the path of the checkpoint that is evaluated. */
const CHECKPOINT_VARIABLE = 'SVC_EVAL_CHECKPOINT';

/** Throws DispatchFailed when this host does not have the checkpoint. One that the agent cannot look at may be there for the job's user. */
export async function requireCheckpoint({ env }: Pick<AttemptDraft, 'env'>): Promise<void> {
  const checkpoint = env[CHECKPOINT_VARIABLE];
  if (checkpoint === undefined) return;
  await stat(checkpoint).catch((error: unknown) => {
    if (!isMissing(error)) return;
    throw new DispatchFailed(
      `the checkpoint ${checkpoint} does not exist there: name a node that has it (node_selector), or evaluate another one`,
    );
  });
}
