import { DispatchFailed, toPathInside, type AttemptDraft } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import { stat } from 'node:fs/promises';

/** The variable with the path of the checkpoint that is evaluated. */
const CHECKPOINT_VARIABLE = 'SVC_EVAL_CHECKPOINT';

type Draft = Pick<AttemptDraft, 'env' | 'mounts' | 'workingDir'>;

/**
 * The variable as the job is to have it: a container sees the checkpoint at another path. Throws DispatchFailed when this host does not have the checkpoint, or
 * the container does not see it. One that the agent cannot look at may be there for the job's user.
 */
export async function requireCheckpoint(draft: Draft): Promise<Record<string, string>> {
  const checkpoint = draft.env[CHECKPOINT_VARIABLE];
  if (checkpoint === undefined) return {};
  await stat(checkpoint).catch((error: unknown) => {
    if (!isMissing(error)) return;
    throw new DispatchFailed(
      `the checkpoint ${checkpoint} does not exist there: name a node that has it (node_selector), or evaluate another one`,
    );
  });
  return { [CHECKPOINT_VARIABLE]: toSeenPath(checkpoint, draft) };
}

function toSeenPath(checkpoint: string, { mounts, workingDir }: Draft): string {
  if (mounts === null) return checkpoint;
  const own = { source: workingDir, target: workingDir, read_only: false };
  const seen = toPathInside([own, ...mounts], checkpoint);
  if (seen !== null) return seen;
  throw new DispatchFailed(
    `the container does not see the checkpoint ${checkpoint}: add "${checkpoint}:${checkpoint}:ro" to its mounts`,
  );
}
