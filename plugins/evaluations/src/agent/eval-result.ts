import { toReason, type AttemptDraft } from '@svc/agent';
import { isMissing } from '@svc/agent/durable-file';
import { isOfAnother } from '@svc/agent/file-owner';
import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** The variable with the path of the result file; a job that sets it chooses the file. */
export const RESULT_VARIABLE = 'SVC_EVAL_OUTPUT';
const MAX_BYTES = 1024 * 1024;
const MAX_SHOWN_NAME = 100;

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
  const before = await stat(file).then(toStamp, () => null);
  return { path: file, before };
}

/**
 * Why the file is not a valid result `{metrics: {name: number}, runtime_s: number}`; null when it is one. `jobsOwn`: a directory that
 * belongs to the job's user.
 */
export async function findResultFlaw(expected: ExpectedResult, jobsOwn: string): Promise<string | null> {
  const file = expected.path;
  try {
    // To open a device can have an effect of its own, such as a watchdog's.
    if (!(await stat(file)).isFile()) return `${file} is not a file`;
    // Non-blocking, as the job may put a pipe without a writer in its place.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await findFileFlaw(handle, expected, jobsOwn);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return isMissing(error) ? `${file} was not written` : `${file} cannot be read (${toReason(error)})`;
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
  if (facts.size > MAX_BYTES) return `${file} is larger than 1 MiB`;
  if (toStamp(facts) === before) return `${file} is from before the evaluation and was not written by it`;
  const flaw = findTextFlaw((await handle.readFile()).toString('utf8'));
  return flaw === null ? null : `${file} ${flaw}`;
}

function findTextFlaw(text: string): string | null {
  let result: unknown;
  try {
    result = JSON.parse(text);
  } catch {
    // Without the parser's message, which quotes the file: a job may name one that it cannot read itself.
    return 'is not JSON';
  }
  if (!isObject(result)) return 'is not a JSON object';
  const { metrics, runtime_s } = result;
  if (!isObject(metrics)) return 'lacks "metrics", an object of numbers';
  const wrong = Object.keys(metrics).find((name) => !Number.isFinite(metrics[name]));
  if (wrong !== undefined)
    return `has a metric ${JSON.stringify(wrong.slice(0, MAX_SHOWN_NAME))} that is not a number`;
  return Number.isFinite(runtime_s) ? null : 'lacks "runtime_s", a number of seconds';
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
