import { readFileSync } from 'node:fs';

/** The version that the welcome contains; all packages of a release have the same. */
export const SERVER_VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
