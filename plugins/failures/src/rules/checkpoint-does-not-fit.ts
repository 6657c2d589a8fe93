import { failureRule } from '../failure-rule.js';

export const checkpointDoesNotFit = failureRule({
  name: 'checkpoint-does-not-fit',
  title: 'The checkpoint does not fit the model',
  cause: 'The names or the shapes of the weights in the checkpoint differ from those of the model.',
  fixes: [
    'Build the model with the configuration that the checkpoint was trained with.',
    'Strip or add a prefix of the names (module., _orig_mod.) before loading.',
    'Load a part on purpose with strict=False, and look at what it reports.',
  ],
  confidence: 0.96,
  remedy: 'change',
  patterns: [
    /Error\(s\) in loading state_dict for/,
    /\b(?:Missing|Unexpected) key\(s\) in state_dict/,
    /\bsize mismatch for \S+: copying a param/,
    /loaded state dict (?:contains a parameter group|has a different number of parameter groups)/,
  ],
});
