import { InvalidArgumentError } from 'commander';

/** An option's value as an integer; commander names the option in what it says. */
export function parseInteger(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('It must be an integer.');
  return Number(text);
}

/** As `parseInteger`, of something that is at least 1. */
export function parseCount(text: string): number {
  const count = parseInteger(text);
  if (count < 1) throw new InvalidArgumentError('It must be at least 1.');
  return count;
}

/** As `parseInteger`, of something between two bounds. */
export function parseBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = parseInteger(text);
    if (count < least || count > most)
      throw new InvalidArgumentError(`It must be between ${least} and ${most}.`);
    return count;
  };
}

/** For an option that takes one of a few words, in whatever case. The completion reads `choices`. */
export function parseOneOf<const T extends string>(choices: readonly T[]): (text: string) => T {
  const parse = (text: string): T => {
    const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.`);
    return found;
  };
  return Object.assign(parse, { choices });
}

/** As `parseOneOf`, for an option that takes several of them. */
export function parseEachOf<const T extends string>(choices: readonly T[]) {
  const parseOne = parseOneOf(choices);
  const parse = (text: string, values: readonly T[] = []): readonly T[] => [...values, parseOne(text)];
  return Object.assign(parse, { choices });
}

/** For an option that may be repeated: `key=value` pairs as one map. */
export function parsePair(
  text: string,
  pairs: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be KEY=VALUE.');
  return { ...pairs, [text.slice(0, at)]: text.slice(at + 1) };
}

/** As `parsePair`, of values that are JSON, or else text. */
export function parseJsonPair(
  text: string,
  pairs: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const [[key, value]] = Object.entries(parsePair(text)) as [[string, string]];
  try {
    return { ...pairs, [key]: JSON.parse(value) as unknown };
  } catch {
    return { ...pairs, [key]: value };
  }
}

/** As `parsePair`; `KEY` alone takes the value from this shell's environment, so that a secret needs no argument list. */
export function parseEnvPair(text: string, pairs?: Readonly<Record<string, string>>): Record<string, string> {
  if (text.includes('=')) return parsePair(text, pairs);
  const value = process.env[text];
  if (value === undefined)
    throw new InvalidArgumentError(`It must be KEY=VALUE, because this shell has no variable ${text}.`);
  return parsePair(`${text}=${value}`, pairs);
}

/** For an option that may be repeated: its values in order. */
export function parseRepeated(text: string, values: readonly string[] = []): readonly string[] {
  return [...values, text];
}

/** For an option that names something in a file or a list of this host. */
export function parseName(text: string): string {
  if (!/^[\w.:@-]{1,100}$/.test(text))
    throw new InvalidArgumentError('It must be at most 100 letters, digits and any of . : @ _ -');
  return text;
}
