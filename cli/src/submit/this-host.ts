import { loadLocalServer } from '@svc/client/local-server';
import { toAddress } from '@svc/client/profiles';
import { lookup } from 'node:dns/promises';
import os from 'node:os';

/** Loopback, and "every address of this host". */
const OWN = /^(127\.|0\.0\.0\.0$|::1?$)/;

/** Whether the server at this address runs on this host: it uses the local data directory, or the name leads to an address of this host. */
export async function isOnThisHost(url: string, dataDir: string): Promise<boolean> {
  const local = loadLocalServer(dataDir);
  if (local !== null && toAddress(local.url) === toAddress(url)) return true;
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (name === 'localhost') return true;
  const interfaces = Object.values(os.networkInterfaces()).flatMap((all) => all ?? []);
  const own = new Set(interfaces.map(({ address }) => address));
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.some(({ address }) => OWN.test(address) || own.has(address));
}
