import { failureRule } from '../failure-rule.js';

export const networkUnreachable = failureRule({
  name: 'network-unreachable',
  title: 'A server could not be reached',
  cause: 'A name could not be resolved, or a connection was refused or timed out.',
  fixes: [
    'Check the address, and whether the node reaches it; many clusters have no way to the internet.',
    'Download models and data before the job starts, and set HF_HUB_OFFLINE=1.',
  ],
  confidence: 0.86,
  remedy: 'repair',
  patterns: [
    /\bTemporary failure in name resolution\b|\bName or service not known\b|\bgetaddrinfo (?:failed|ENOTFOUND|EAI_AGAIN)/,
    /\bConnection(?:Refused|Reset)?Error\b|\bECONNREFUSED\b|\bConnection refused\b/,
    /\bMax retries exceeded with url\b|\b(?:Connect|Read)Timeout(?:Error)?\b/,
    /\bNetwork is unreachable\b|\bNo route to host\b/,
  ],
});
