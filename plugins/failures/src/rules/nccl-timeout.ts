import { failureRule } from '../failure-rule.js';

export const ncclTimeout = failureRule({
  name: 'nccl-timeout',
  title: 'A collective operation timed out',
  cause:
    'A rank waited too long for the others in a collective operation. Another rank failed, hangs, is far slower, or took another path in the code.',
  fixes: [
    'Look for the rank that failed or stopped first: its error is the cause.',
    'Check that every rank calls the same collectives in the same order, also in evaluation and checkpointing.',
    'If one rank is only slow, raise the timeout of init_process_group.',
  ],
  confidence: 0.78,
  remedy: 'change',
  patterns: [
    /\bWatchdog caught collective operation timeout\b/,
    /\bcollective operation.{0,300}?\b(?:timed out|timeout)\b/,
    /Some NCCL operations have failed or timed out/,
  ],
  explainsKill: true,
});
