import { failureRule } from '../failure-rule.js';
import { hasReason } from '../evidence/end.js';

export const nodeLost = failureRule({
  name: 'node-lost',
  title: 'The connection to the node was lost',
  cause:
    'The node of the job could not be reached, or its agent came back without the attempt. Nothing is known of how the process ended.',
  fixes: [
    'Look at the node: whether the host is up, the agent runs, and the network reaches the server.',
    'Retry the job once the node is back, or let another node run it.',
  ],
  confidence: 0.95,
  remedy: 'retry',
  applies: ({ attempt }) =>
    hasReason(attempt, 'LOST') ?? (attempt.status === 'LOST' ? [{ field: 'status', value: 'LOST' }] : null),
  explainsKill: true,
});
