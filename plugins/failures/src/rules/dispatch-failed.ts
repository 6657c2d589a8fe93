import { failureRule } from '../failure-rule.js';
import { hasReason } from '../evidence/end.js';

export const dispatchFailed = failureRule({
  name: 'dispatch-failed',
  title: 'The job could not be started on its node',
  cause: 'No process ran. The reason: <message>.',
  unnamedCause: 'The node could not start the command, so no process ran.',
  fixes: [
    'Correct the program, the working directory or the checkpoint that the message names: it must exist on the node.',
    'Choose another node with a node selector, or submit with the source files uploaded.',
  ],
  confidence: 0.98,
  remedy: 'change',
  applies: ({ attempt }) => hasReason(attempt, 'DISPATCH_FAILED'),
  explainsKill: true,
});
