import { LOWER_LEARNING_RATE } from '../changed-argument.js';
import { failureRule } from '../failure-rule.js';
import { findNan } from '../evidence/nan.js';

export const nanLoss = failureRule({
  name: 'nan-loss',
  title: 'The loss became NaN',
  cause: 'The training diverged: a value became NaN or infinite, and what follows is NaN as well.',
  fixes: [
    'Lower the learning rate, lengthen the warm-up, and clip gradients (clip_grad_norm_).',
    'Use bf16 instead of fp16, or check the scaling of the loss.',
    'Look for bad input (NaN, division by zero, log of 0); torch.autograd.set_detect_anomaly(True) names the operation.',
  ],
  confidence: 0.94,
  remedy: 'change',
  argument: LOWER_LEARNING_RATE,
  patterns: [
    /(?<!\b[Bb]est (?:\w{1,20} )?)\b[Ll]oss\b.{0,80}?(?:\b(?:is|was|became|got|to)|[=:])\s{0,8}(?:nan|NaN|NAN|inf)\b/,
    // Not the setting of a check, as `stop_if: nan loss`.
    /(?<!(?:[Ii]f|\b(?:on|for|no|skip|check))\W{1,3})\b(?:nan|NaN|NAN|[Nn]on-finite|not finite)\b.{0,80}?\b[Ll]oss\b/,
    /returned nan values in its \d+th output/,
    /\b[Gg]radients?\b.{0,80}?\b(?:nan|NaN|non-finite)\b/,
    /\bFloatingPointError\b/,
    /The total norm .{0,80}? for gradients .{0,80}? is non-finite/,
    /\bInput (?:X )?contains NaN\b/,
    /\bCurrent loss scale already at minimum\b/,
  ],
  applies: findNan,
});
