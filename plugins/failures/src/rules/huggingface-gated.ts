import { failureRule } from '../failure-rule.js';

export const huggingfaceGated = failureRule({
  name: 'huggingface-gated',
  title: 'Access to a Hugging Face repository was refused',
  cause: 'The model or data set needs permission, and the token of the job has none.',
  fixes: [
    'Accept the conditions of the repository on its page, with the account of the token.',
    'Give the job a token with access (HF_TOKEN).',
  ],
  confidence: 0.95,
  remedy: 'repair',
  patterns: [
    /\bGatedRepoError\b/,
    /Cannot access gated repo|Access to (?:model|dataset) \S{1,200} is restricted/,
    /You are trying to access a gated repo/,
  ],
});
