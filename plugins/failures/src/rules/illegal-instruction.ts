import { failureRule } from '../failure-rule.js';
import { hasExit } from '../evidence/end.js';

export const illegalInstruction = failureRule({
  name: 'illegal-instruction',
  title: 'The processor does not know an instruction',
  cause: 'The program was built for a newer processor than that of the node.',
  fixes: ['Install a build for older processors, or choose another node.'],
  confidence: 0.9,
  remedy: 'change',
  patterns: [/\bIllegal instruction\b|\bSIGILL\b/],
  applies: ({ attempt }) => hasExit(attempt, [-4, 132]),
  explainsKill: true,
});
