import { failureRule } from '../failure-rule.js';

export const rendezvousTimeout = failureRule({
  name: 'rendezvous-timeout',
  title: 'The processes did not find each other',
  cause: 'The processes of a distributed job did not all reach the rendezvous in time.',
  fixes: [
    'Check MASTER_ADDR, MASTER_PORT and the world size, and that every process starts.',
    'Check that the port can be reached from all nodes.',
  ],
  confidence: 0.9,
  remedy: 'repair',
  patterns: [
    /\bRendezvous(?:Timeout|Connection|Closed|State)?Error\b/,
    /\bTimed out after \d+ seconds waiting for clients\b/,
    /\bDistStoreError\b|\bDistNetworkError\b/,
    /The client socket has (?:timed out|failed to connect)/,
  ],
});
