import { TOOL_INPUTS, type NextActionRecord } from '@svc/contract';
import { randomUUID } from 'node:crypto';
import { ToolError } from './tool-error.js';
import { toAction, type Tool } from './tool.js';

type Args = Readonly<Record<string, unknown>>;

/** Longer arguments would fill the answer: their repetition is described, and not written down. */
const MOST_CHARACTERS = 4_000;

/** The arguments with an idempotency key, where the tool takes one: after an outage the same call can be made again and does it once. */
export function withKey({ name }: Pick<Tool, 'name'>, args: Args): Args {
  const takesKey = 'idempotency_key' in TOOL_INPUTS[name].properties;
  return !takesKey || 'idempotency_key' in args ? args : { ...args, idempotency_key: `mcp-${randomUUID()}` };
}

/** Without an answer nobody knows whether a Control tool has done its work. */
export function maybeDone({ message }: ToolError, { name }: Pick<Tool, 'name'>, args: Args): ToolError {
  const { idempotency_key, job_id } = args;
  if (typeof idempotency_key !== 'string')
    return new ToolError(
      'unavailable',
      `${message} It may have been done all the same: look at the job first.`,
      [toAction('get_job', { job_id }, 'whether it was done')],
    );
  const how = `It may have been done all the same. Wait half a minute, then make the same call with idempotency_key "${idempotency_key}": that does it once.`;
  return new ToolError('unavailable', `${message} ${how}`, [
    ...repeat(name, args),
    toAction('list_jobs', {}, 'whether the job is there already'),
  ]);
}

function repeat(name: Tool['name'], args: Args): NextActionRecord[] {
  if (JSON.stringify(args).length > MOST_CHARACTERS) return [];
  return [toAction(name, args, 'the same call with its key, which does it once')];
}
