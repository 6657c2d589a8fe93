import { toReason, type AttemptDraft } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import type { EvaluationResult } from '@svc/contract';
import { EVALUATION_METRIC_NAME, EVALUATION_RESULT_BYTES, NON_FINITE_VALUES } from '@svc/contract/protocol';
import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** The variable with the path of the result file; a job that sets it chooses the file. */
export const RESULT_VARIABLE = 'SVC_EVAL_OUTPUT';
const METRIC_NAME = new RegExp(EVALUATION_METRIC_NAME, 'u');
const MAX_SHOWN_NAME = 100;
/** As Python's json writes what JSON has no number for. */
const HAS_BARE_WORD = /[:,[]\s*-?(NaN|Infinity)\b/;
const BARE_WORD_FLAW =
  'is not JSON: NaN, Infinity and -Infinity are words in quotes there, as in {"loss": "NaN"}';

/** The file in which an evaluation is to leave its result. */
export interface ExpectedResult {
  /** Absolute. */
  readonly path: string;
  /** Identifies the file that was there before the evaluation; null when there was none. */
  readonly before: string | null;
}

/** null for a job that leaves no result. */
export async function expectResult({
  jobType,
  env,
  workingDir,
  paths,
}: Pick<AttemptDraft, 'jobType' | 'env' | 'workingDir' | 'paths'>): Promise<ExpectedResult | null> {
  if (jobType !== 'EVALUATE') return null;
  const file = path.resolve(workingDir, env[RESULT_VARIABLE] || paths.result);
  return { path: file, before: await findStamp(file) };
}

/** Identifies a file and its content; null for none. */
export function findStamp(file: string): Promise<string | null> {
  return stat(file).then(toStamp, () => null);
}

/** What the file holds, or why that is not a result. */
export type Reading = { readonly result: EvaluationResult } | { readonly flaw: string };

/** `jobsOwn`: a directory that belongs to the job's user. */
export async function readResult(expected: ExpectedResult, jobsOwn: string): Promise<Reading> {
  const file = expected.path;
  try {
    // To open a device can have an effect of its own, such as a watchdog's.
    if (!(await stat(file)).isFile()) return { flaw: `${file} is not a file` };
    // Non-blocking, as the job may put a pipe without a writer in its place.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const flaw = await findFileFlaw(handle, expected, jobsOwn);
      return flaw === null ? parseText(await readStart(handle), file) : { flaw };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return {
      flaw: isMissing(error)
        ? `${file} was not written (${RESULT_VARIABLE} names it to the command)`
        : `${file} cannot be read (${toReason(error)})`,
    };
  }
}

async function findFileFlaw(
  handle: FileHandle,
  { path: file, before }: ExpectedResult,
  jobsOwn: string,
): Promise<string | null> {
  const facts = await handle.stat();
  if (await isOfAnother(facts, jobsOwn)) return `${file} belongs to another user than the job's`;
  if (!facts.isFile()) return `${file} is not a file`;
  if (await leadsAway(file)) return `${file} is a link that leads out of its folder`;
  if (facts.size === 0) return `${file} is empty`;
  if (facts.size > EVALUATION_RESULT_BYTES) return `${file} is larger than 1 MiB`;
  if (toStamp(facts) === before) return `${file} is from before the evaluation and was not written by it`;
  return null;
}

/** A process that outlived the job may have made the file longer in the meantime: what is too long is cut, and then is no JSON. */
async function readStart(handle: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(EVALUATION_RESULT_BYTES);
  let length = 0;
  for (let read = -1; read !== 0; length += read)
    ({ bytesRead: read } = await handle.read(bytes, length, bytes.length - length, length));
  return bytes.toString('utf8', 0, length);
}

async function leadsAway(file: string): Promise<boolean> {
  const folder = await realpath(path.dirname(file));
  return !(await realpath(file)).startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function parseText(text: string, file: string): Reading {
  const flawed = (flaw: string) => ({ flaw: `${file} ${flaw}` });
  let result: unknown;
  try {
    result = JSON.parse(text);
  } catch {
    // Without the parser's message, which quotes the file: a job may name one that it cannot read itself.
    return flawed(HAS_BARE_WORD.test(text) ? BARE_WORD_FLAW : 'is not JSON');
  }
  if (!isObject(result)) return flawed('is not a JSON object');
  const { metrics, runtime_s } = result;
  if (!isObject(metrics)) return flawed('lacks "metrics", an object of numbers');
  const wrong = Object.keys(metrics).find((name) => !isMetricValue(metrics[name]));
  if (wrong !== undefined) return flawed(`has a metric ${toShown(wrong)} that is not a number`);
  const unnamed = Object.keys(metrics).find((name) => !METRIC_NAME.test(name));
  if (unnamed !== undefined)
    return flawed(`has a metric ${toShown(unnamed)} whose name is not 1 to 250 characters of plain text`);
  if (!Number.isFinite(runtime_s)) return flawed('lacks "runtime_s", a number of seconds');
  return { result: { metrics: metrics as EvaluationResult['metrics'], runtime_s: runtime_s as number } };
}

/** What JSON has no number for comes as a word. */
function isMetricValue(value: unknown): boolean {
  return Number.isFinite(value) || NON_FINITE_VALUES.some((word) => word === value);
}

function toShown(name: string): string {
  return JSON.stringify(name.slice(0, MAX_SHOWN_NAME));
}

function toStamp({
  dev,
  ino,
  size,
  mtimeMs,
}: {
  dev: number;
  ino: number;
  size: number;
  mtimeMs: number;
}): string {
  return [dev, ino, size, mtimeMs].join(':');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
