import { failureRule } from '../failure-rule.js';

export const addressInUse = failureRule({
  name: 'address-in-use',
  title: 'A port was in use already',
  cause: 'The program listens on a port that another process uses, often an earlier run on the same node.',
  fixes: [
    'Let the system choose a free port (port 0; torchrun --standalone, or --master-port 0).',
    'End the process that holds the port (ss -ltnp shows it).',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /\bAddress already in use\b|\bEADDRINUSE\b/,
    /The server socket has failed to listen on any local network address/,
  ],
});
