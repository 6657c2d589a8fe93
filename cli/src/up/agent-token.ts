import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { createClient, type Client } from '../api/client.js';

/** A token of agent scope for the local agent, kept in `<data dir>/agent-token`: the operator's is not lent to it. */
export async function ensureAgentToken(operator: Client, dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'agent-token');
  const kept = readKept(file);
  if (kept !== null && (await isGood(operator.connection.url, kept))) return kept;
  const { token } = await operator.call(routes.createToken, {
    body: { name: 'agent of svc up', scope: 'agent' },
  });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

function readKept(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

async function isGood(url: string, token: string): Promise<boolean> {
  try {
    const { scope } = await createClient({ url, token }).call(routes.whoami);
    return scope === 'agent';
  } catch {
    return false;
  }
}
