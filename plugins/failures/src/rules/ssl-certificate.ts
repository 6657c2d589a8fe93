import { failureRule } from '../failure-rule.js';

export const sslCertificate = failureRule({
  name: 'ssl-certificate',
  title: 'A TLS connection failed',
  cause: 'The certificate of a server could not be verified, or the TLS connection failed.',
  fixes: [
    'Install the certificate of the authority that signed it (SSL_CERT_FILE, REQUESTS_CA_BUNDLE), often that of a proxy.',
    'Check the clock of the node: certificates are valid for a time.',
  ],
  confidence: 0.94,
  remedy: 'repair',
  patterns: [
    /\bCERTIFICATE_VERIFY_FAILED\b|certificate verify failed/,
    /\bSSLError\b|\bSSL: [A-Z_]+\]|SSL certificate problem/,
  ],
});
