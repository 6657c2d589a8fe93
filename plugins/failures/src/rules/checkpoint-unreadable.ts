import { failureRule } from '../failure-rule.js';

export const checkpointUnreadable = failureRule({
  name: 'checkpoint-unreadable',
  title: 'The checkpoint cannot be read',
  cause: 'The checkpoint file is incomplete, damaged, or of another kind than the program expects.',
  fixes: [
    'Use the checkpoint before it: a job that was killed while saving leaves a part of a file.',
    'Save to a temporary name and rename it when it is complete.',
    'For `Weights only load failed`: load with weights_only=False if you trust the file.',
  ],
  confidence: 0.94,
  remedy: 'change',
  patterns: [
    /PytorchStreamReader failed/,
    /\binvalid load key\b|\bUnpicklingError\b|\bWeights only load failed\b/,
    /unexpected EOF, expected \d+ more bytes|\bEOFError: Ran out of input\b/,
    /\bSafetensorError\b|InvalidHeaderDeserialization|HeaderTooLarge|MetadataIncompleteBuffer/,
  ],
});
