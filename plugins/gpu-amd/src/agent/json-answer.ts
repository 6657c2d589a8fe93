import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 16 * 2 ** 20;
const run = promisify(execFile);

export type JsonObject = { readonly [key: string]: unknown };

/** What the program answers. Rejects when it cannot be run, fails, or answers with something else than JSON. */
export async function askForJson(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<unknown> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, signal };
  const { stdout } = await run(program, [...args, '--json'], options);
  return parseAnswer(stdout, `${program} ${args.join(' ')}`);
}

/** Both programs may write warnings in front of the JSON: that a GPU sleeps, or that the user is in too few groups. */
export function parseAnswer(text: string, asked: string): unknown {
  const from = text.search(/^[[{]/m);
  const to = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'));
  try {
    return JSON.parse(text.slice(Math.max(0, from), to + 1));
  } catch {
    throw new Error(`"${asked}" answered with something else than JSON: ${text.trim().slice(0, 200)}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** null: it is not there, or has no answer (`N/A`). */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value !== 'N/A' ? value : null;
}

/** Of `42`, `"42"`, `"(1090Mhz)"` and `{"value": 42, "unit": "W"}`; null for everything else, as `N/A`. */
export function numberOf(value: unknown): number | null {
  if (isObject(value)) return numberOf(value['value']);
  if (typeof value === 'string') {
    const digits = /^\(?(-?\d+(?:\.\d+)?)/.exec(value)?.[1];
    return digits === undefined ? null : Number(digits);
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

const MIB_OF: Readonly<Record<string, number>> = { B: 2 ** -20, KB: 2 ** -10, MB: 1, GB: 2 ** 10 };

/** In MiB; `bare` is the unit of a number without one. The units of both programs are binary, whatever they are called. */
export function mibOf(value: unknown, bare: 'B' | 'MB'): number | null {
  const number = numberOf(value);
  if (number === null) return null;
  const unit = isObject(value) ? textOf(value['unit']) : null;
  const factor = MIB_OF[(unit ?? bare).toUpperCase().replace('IB', 'B')];
  return factor === undefined ? null : Math.round(number * factor);
}

/** Without those that were not measured. */
export function toMeasured(
  index: number,
  figures: Readonly<Record<string, number | null>>,
): Record<string, number> {
  const known = Object.entries(figures).filter((entry): entry is [string, number] => entry[1] !== null);
  return Object.fromEntries(known.map(([name, value]) => [`gpu.${index}.${name}`, value]));
}
