import { failureRule } from '../failure-rule.js';

export const huggingfaceNotFound = failureRule({
  name: 'huggingface-not-found',
  title: 'A Hugging Face repository or file was not found',
  cause: 'The model or data set has another name, is private, or lacks the file or the revision asked for.',
  fixes: [
    'Check the spelling of the repository, the file and the revision.',
    'Give the job a token with access if it is private (HF_TOKEN).',
  ],
  confidence: 0.94,
  remedy: 'change',
  patterns: [
    /\b(?:RepositoryNotFound|EntryNotFound|RevisionNotFound|HFValidation)Error\b/,
    /is not a local folder and is not a valid model identifier/,
    /We couldn't connect to 'https:\/\/huggingface\.co'.{0,300}?couldn't find/,
    /\bDatasetNotFoundError\b/,
    // To hide which private ones there are, the server says the same of both.
    /\b401 Client Error.{0,200}?\bhuggingface\.co\b/,
  ],
});
