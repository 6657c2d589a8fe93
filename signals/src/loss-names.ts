/** A metric with one of these words is about a loss, and is none: it may jump, or be infinite, in a healthy run. */
const NO_LOSSES = new Set([
  'scale',
  'scaler',
  'scaling',
  'weight',
  'coef',
  'coeff',
  'coefficient',
  'ratio',
  'count',
  'time',
  'best',
  'min',
  'max',
  'lowest',
  'std',
  'var',
  'variance',
]);

/** Losses by other names, which fall while a training goes well. */
const LOSSES_BY_NAME = new Set([
  'nll',
  'perplexity',
  'ppl',
  'ce',
  'bce',
  'xent',
  'crossentropy',
  'mse',
  'rmse',
  'mae',
]);
/** These may rise, or lie below 0; in a healthy run they are numbers too. */
const OBJECTIVES = new Set(['kl', 'kld', 'elbo', 'logloss', 'objective']);
/** `losses`, `loss1`, `trainloss`. */
const HAS_LOSS = /^loss\d|loss(?:es)?\d*$/;

/** Only losses can have spikes: other metrics may jump for good reasons. */
export function isLoss(name: string): boolean {
  const words = wordsOf(name);
  return words.includes('loss') && isOfLoss(words);
}

/** A loss, or a measure that falls with it: `val/nll`, `train_perplexity`, `cross_entropy`. */
export function isLossByAnyName(name: string): boolean {
  const words = wordsOf(name);
  return (words.includes('loss') || hasLossByName(words)) && isOfLoss(words);
}

/** Whether a NaN in it shows that the training has diverged. */
export function mustBeNumber(name: string): boolean {
  const words = wordsOf(name);
  const isKnown = hasLossByName(words) || words.some((word) => HAS_LOSS.test(word) || OBJECTIVES.has(word));
  return isKnown && isOfLoss(words);
}

function hasLossByName(words: readonly string[]): boolean {
  return (
    words.some((word) => LOSSES_BY_NAME.has(word)) || (words.includes('cross') && words.includes('entropy'))
  );
}

function isOfLoss(words: readonly string[]): boolean {
  return !words.some((word) => NO_LOSSES.has(word));
}

/** The words of a metric's name in lower case: it is split as for guessing its direction, and where `trainLoss` has its capital. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[/_\-. ]/);
}
