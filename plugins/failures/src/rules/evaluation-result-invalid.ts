import { failureRule } from '../failure-rule.js';
import { hasReason } from '../evidence/end.js';

export const evaluationResultInvalid = failureRule({
  name: 'evaluation-result-invalid',
  title: 'The evaluation left no valid result',
  cause: 'The evaluation script <message>.',
  unnamedCause: 'The evaluation script exited with 0 but wrote no valid result file.',
  fixes: [
    'Write a JSON object with `metrics` (names to numbers) and `runtime_s` (a number) to the file that SVC_EVAL_OUTPUT names.',
    'Let the script exit with a non-zero code when it cannot write the result.',
  ],
  confidence: 0.98,
  remedy: 'change',
  applies: ({ attempt }) => hasReason(attempt, 'EVALUATION_RESULT_INVALID'),
  explainsKill: true,
});
