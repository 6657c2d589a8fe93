import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** An identity takes a few hundred. */
const MAX_IDENTITY_BYTES = 64 * 1024;
/** One of them lies in every data directory; other programs, too, have a `server.lock`. */
const OF_SERVER = ['svc.db', 'server.json', 'token'];
/** What a job works in, below the state directory of its agent: it holds no secrets of svc. */
const WORK = /^jobs\/[^/]+\/attempt-\d+\/work(\/|$)/;

/** Whether it is the data directory of a server, or the state directory of an agent: both hold tokens, and files of other jobs. */
export function isOfService(directory: string): boolean {
  const holds = (name: string): boolean => existsSync(path.join(directory, name));
  return (
    (holds('server.lock') && OF_SERVER.some(holds)) ||
    ['agent/agent.json', 'agent.json'].some((name) => isIdentity(path.join(directory, name)))
  );
}

/** Whether it is such a directory or lies in one, such as the backups of a server. The work of a job is its own. */
export function isWithinService(directory: string): boolean {
  return [...directoriesAbove(directory)].some(
    (above) => isOfService(above) && !WORK.test(path.relative(above, directory)),
  );
}

/** The directory itself first. */
function* directoriesAbove(directory: string): Generator<string> {
  yield directory;
  const parent = path.dirname(directory);
  if (parent !== directory) yield* directoriesAbove(parent);
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
