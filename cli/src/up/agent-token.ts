import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { createClient, type Client } from '@svc/client';

/**
 * The file with a token of agent scope for the local agent, `<data dir>/agent/token`. The agent does not get the operator's token, and a file
 * is safer than an argument list or an environment, which other programs can read.
 */
export async function ensureAgentToken(operator: Client, dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'agent', 'token');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  moveFormerToken(path.join(dataDir, 'agent-token'), file);
  const stored = readStored(file);
  if (stored !== null && (await isGood(operator.connection.url, stored))) return file;
  const { token } = await operator.call(routes.createToken, {
    body: { name: 'agent of svc up', scope: 'agent' },
  });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return file;
}

/** Moves the token from where earlier versions stored it. */
function moveFormerToken(former: string, file: string): void {
  if (existsSync(former)) renameSync(former, file);
}

function readStored(file: string): string | null {
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
