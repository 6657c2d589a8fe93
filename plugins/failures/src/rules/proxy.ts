import { failureRule } from '../failure-rule.js';

export const proxy = failureRule({
  name: 'proxy',
  title: 'The proxy refused the connection',
  cause: 'A connection through the configured proxy failed.',
  fixes: [
    'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY in the environment of the job.',
    'Give the proxy the credentials that it asks for.',
  ],
  confidence: 0.93,
  remedy: 'repair',
  patterns: [
    /\bProxyError\b|Cannot connect to proxy|Tunnel connection failed: \d+/,
    /\b407 Proxy Authentication Required\b/,
  ],
});
