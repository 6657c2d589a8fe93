import type { DIRECTIONS } from './enums.js';

type Direction = (typeof DIRECTIONS)[number];

export interface DirectionGuess {
  readonly direction: Direction;
  /** The word of the name that says it; null: none does. */
  readonly guessed_from: string | null;
}

/** What a metric with such a word in its name is good for; two words are joined by `_`. */
const DIRECTION_OF_WORD: ReadonlyMap<string, Direction> = new Map([
  ...toEntries(
    'maximize',
    'acc accuracy f1 auc precision recall bleu rouge map iou dice reward return score throughput psnr ssim r2 win_rate per_second',
  ),
  ...toEntries(
    'minimize',
    'loss losses error errors err mse rmse mae mape nll bce cross_entropy perplexity ppl wer cer fid kid lpips ece brier eer regret latency bpb bpc',
  ),
]);

function toEntries(direction: Direction, words: string): [string, Direction][] {
  return words.split(' ').map((word) => [word, direction]);
}

/**
 * The direction of a metric by the last word of its name that tells one: `dice_loss` is a loss. Without such a word it is `minimize`, and
 * nobody should rely on it.
 */
export function guessDirection(name: string): DirectionGuess {
  const words = name.toLowerCase().split(/[/_\-.]/);
  for (let last = words.length - 1; last >= 0; last -= 1) {
    for (const word of [words[last] ?? '', `${words[last - 1]}_${words[last]}`]) {
      const direction = DIRECTION_OF_WORD.get(word);
      if (direction !== undefined) return { direction, guessed_from: word };
    }
  }
  return { direction: 'minimize', guessed_from: null };
}

/** False for a direction that nobody has set and that nothing in the name tells. */
export function isDirectionKnown(metric: {
  readonly guessed: boolean;
  readonly guessed_from: string | null;
}): boolean {
  return !metric.guessed || metric.guessed_from !== null;
}
