import { failureRule } from '../failure-rule.js';
import { hasReason } from '../evidence/end.js';

export const dispatchFailed = failureRule({
  name: 'dispatch-failed',
  title: 'The job could not be started on its node',
  cause: 'No process ran. The reason: <message>.',
  unnamedCause: 'The node could not start the command, so no process ran.',
  fixes: [
    'Correct what the message names. A program, a working directory and a checkpoint must exist on the node; for a container also check the image and the login to its registry, the mounts that the agent allows, the network and the user.',
    'If another node has what is missing, choose it with a node selector; source files can be uploaded with the job.',
  ],
  confidence: 0.98,
  remedy: 'change',
  applies: ({ attempt }) => hasReason(attempt, 'DISPATCH_FAILED'),
  explainsKill: true,
});
