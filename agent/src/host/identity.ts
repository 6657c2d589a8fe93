import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { ensureDurableDir, loadJson, syncDir, writeDurableSync } from '../core/durable-file.js';

/** `agent/agent.json`: who this agent is to every server it meets. Made at its first start, mode 0600. */
export interface Identity {
  readonly node_id: string;
  /** What the server gave at the first welcome: it proves that we are still that node. */
  readonly node_secret: string | null;
  readonly name: string;
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The identity in the state directory, made if there is none. A `name` given replaces the one that is kept. */
export async function ensureIdentity(
  stateDir: string,
  name: string | undefined,
  hostname: string,
): Promise<Identity> {
  await ensureOwnDir(stateDir);
  const saved = await loadJson<Identity>(identityFile(stateDir));
  const base = saved ?? { node_id: `node_${createUlid(Date.now())}`, node_secret: null, name: hostname };
  const identity = { ...base, name: name ?? base.name };
  if (saved === null || saved.name !== identity.name) saveIdentitySync(stateDir, identity);
  return identity;
}

export function saveIdentitySync(stateDir: string, identity: Identity): void {
  writeDurableSync(identityFile(stateDir), identity);
}

/** `<state dir>/agent`: what is the agent's own. Beside it lie `jobs`, and by default the files of a local server. */
function toOwnDir(stateDir: string): string {
  return path.join(stateDir, 'agent');
}

function identityFile(stateDir: string): string {
  return path.join(toOwnDir(stateDir), 'agent.json');
}

/** Takes the identity along from where earlier versions kept it: this host stays the node that it is, with its jobs. */
async function ensureOwnDir(stateDir: string): Promise<void> {
  const ownDir = toOwnDir(stateDir);
  await ensureDurableDir(ownDir);
  const former = path.join(stateDir, 'agent.json');
  if ((await loadJson(former)) === null || (await loadJson(identityFile(stateDir))) !== null) return;
  await rename(former, identityFile(stateDir));
  await Promise.all([syncDir(ownDir), syncDir(stateDir)]);
}

/** A ULID: 48 bits of milliseconds and 80 random bits. */
export function createUlid(nowMs: number): string {
  const bytes = Buffer.concat([Buffer.alloc(6), randomBytes(10)]);
  bytes.writeUIntBE(nowMs, 0, 6);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let place = 0; place < 26; place += 1, rest >>= 5n) text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}
