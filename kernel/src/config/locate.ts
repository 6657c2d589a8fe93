import { BootError, toFactoryName } from '@svc/hooks';

export type ConfigSource = { readonly file: string; readonly text: string };

/** The same error with the line of svc.config.ts to change. */
export function locateBootError(error: unknown, source: ConfigSource | null): unknown {
  if (!(error instanceof BootError) || !source || error.culprit === undefined) return error;
  const lines = [error.culprit].flat().map((culprit) => findLine(source.text, toFactoryName(culprit)));
  const line = lines.find((found) => found > 0);
  const place = line === undefined ? source.file : `${source.file}:${line}`;
  return new BootError(`${place}: ${error.message}`, undefined, { cause: error });
}

/** The last line that has the word, comments and imports aside; counted from 1, and 0 when there is none. */
function findLine(text: string, word: string): number {
  const use = new RegExp(`^(?!\\s*(import|//|\\*)).*(?<![\\w$])${word.replace(/\W/g, '\\$&')}(?![\\w$])`);
  return text.split('\n').findLastIndex((line) => use.test(line)) + 1;
}
