import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** An identity takes a few hundred. */
const MAX_IDENTITY_BYTES = 64 * 1024;

/** Whether it is the data directory of a server, or an agent's own: both hold tokens. */
export function isOfService(directory: string): boolean {
  return existsSync(path.join(directory, 'server.lock')) || isIdentity(path.join(directory, 'agent.json'));
}

/** Programs of others have an `agent.json`, too. */
function isIdentity(file: string): boolean {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > MAX_IDENTITY_BYTES) return false;
    return readFileSync(file, 'utf8').includes('"node_secret"');
  } catch {
    // What this user cannot read is not packed, either.
    return false;
  }
}
