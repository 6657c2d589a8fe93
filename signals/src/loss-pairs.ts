import { isLossByAnyName, wordsOf } from './loss-names.js';

const TRAINING = new Set(['train', 'training', 'tr']);
const VALIDATION = new Set([
  'val',
  'valid',
  'validation',
  'eval',
  'evaluation',
  'dev',
  'test',
  'testing',
  'heldout',
  'holdout',
]);
/** Lightning logs the same loss for each step and for each epoch. */
const PERIODS = new Set(['step', 'epoch', 'batch', 'iter', 'iteration', 'mean', 'avg', 'average']);

/** What a loss is of. Losses of one `pair` are the same loss, measured on different data. */
export interface LossRole {
  readonly pair: string;
  readonly data: 'training' | 'validation';
}

/**
 * The role that the name of a metric tells: `train/loss` and `val/loss`, `loss` and `eval_loss`, `train_ppl` and `valid_ppl` are pairs. A
 * loss whose name tells no data is one of the training. null: no loss.
 */
export function lossRole(name: string): LossRole | null {
  if (!isLossByAnyName(name)) return null;
  const words = wordsOf(name);
  const data = words.some((word) => VALIDATION.has(word)) ? 'validation' : 'training';
  const isNamed = (word: string) => !VALIDATION.has(word) && !TRAINING.has(word) && !PERIODS.has(word);
  return { pair: words.filter(isNamed).join('/'), data };
}
