import { readFileSync } from 'node:fs';

/** What agents are told; all packages of a release carry the same. */
export const SERVER_VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
