import type { Item, Scalar } from './items.js';

/**
 * The scalars that TensorBoard shows of a folder: a training that began again at a step overwrites what was there at it and later, of every
 * tag. `items`: of all files of the folder, in the order of their names.
 */
export function withoutOverwritten(items: readonly Item[]): Scalar[] {
  let kept: Scalar[] = [];
  for (const item of items) {
    if (item.kind === 'scalar') kept.push(item);
    if (item.kind === 'restart') kept = kept.filter(({ step }) => step < item.step);
  }
  return kept;
}
