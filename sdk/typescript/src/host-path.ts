import { realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { warnOnce } from './notices.js';

/** The absolute path without links: the agent, which sees the files from outside, knows the same one. Below what is not there, as it is. */
export function toRealPath(place: string): string {
  const whole = path.resolve(workingDir(), place);
  try {
    return realpathSync(whole);
  } catch {
    const folder = path.dirname(whole);
    return folder === whole ? whole : path.join(toRealPath(folder), path.basename(whole));
  }
}

/** One that is there, also when the working directory has been deleted. */
export function workingDir(): string {
  try {
    return process.cwd();
  } catch {
    return os.tmpdir();
  }
}

/** The path on the host of what lies in a mount of this container: the innermost one has it. SVC_PATH_MAP has the source of each target. */
export function toHostPath(place: string, env: NodeJS.ProcessEnv): string {
  try {
    const given = Object.entries(JSON.parse(env['SVC_PATH_MAP'] || '{}') as Record<string, string>);
    const mounts = given.map(([target, source]) => [toRealPath(target), source] as const);
    const covering = mounts.filter(([target]) => place === target || place.startsWith(`${target}/`));
    const [innermost] = covering.sort(([a], [b]) => b.length - a.length);
    return innermost === undefined ? place : innermost[1] + place.slice(innermost[0].length);
  } catch {
    warnOnce('path map', 'SVC_PATH_MAP is not understood: paths are told as they are in the container');
    return place;
  }
}
