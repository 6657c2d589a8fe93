/** What the name of a checkpoint says of it. */
export interface NamedProgress {
  readonly step?: number;
  readonly epoch?: number;
}

const STEP = /(?:^|[^a-z])(?:global[_-]?step|step|iteration|iter)[=_-]?(\d+)/i;
const EPOCH = /(?:^|[^a-z])epoch[=_-]?(\d+)/i;
/** `checkpoint-500`, `ckpt_500.pt`, `model-500.h5`. */
const NUMBERED = /^(?:checkpoint|ckpt|model|weights)[=_.-](\d+)(?:\.[a-z][a-z0-9]*)*$/i;

/** `checkpoint-500`, `epoch=3-step=1200.ckpt`, `model_step_100.pt` and the like. */
export function progressOf(name: string): NamedProgress {
  const step = STEP.exec(name)?.[1] ?? NUMBERED.exec(name)?.[1];
  const epoch = EPOCH.exec(name)?.[1];
  return {
    ...(isCount(step) && { step: Number(step) }),
    ...(isCount(epoch) && { epoch: Number(epoch) }),
  };
}

function isCount(digits: string | undefined): digits is string {
  return digits !== undefined && Number.isSafeInteger(Number(digits));
}
