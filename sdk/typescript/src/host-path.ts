import { warnOnce } from './notices.js';

/** The path on the host of what lies in a mount of this container: the innermost one has it. SVC_PATH_MAP has the source of each target. */
export function toHostPath(place: string, env: NodeJS.ProcessEnv): string {
  try {
    const mounts = Object.entries(JSON.parse(env['SVC_PATH_MAP'] || '{}') as Record<string, string>);
    const covering = mounts.filter(([target]) => place === target || place.startsWith(`${target}/`));
    const [innermost] = covering.sort(([a], [b]) => b.length - a.length);
    return innermost === undefined ? place : innermost[1] + place.slice(innermost[0].length);
  } catch {
    warnOnce('path map', 'SVC_PATH_MAP is not understood: paths are told as they are in the container');
    return place;
  }
}
