import { ApiError } from '@svc/client';
import type { ErrorCode, NextActionRecord } from '@svc/contract';
import type { Tool } from './tool.js';

/** Why a call failed, as the caller is told: what is wrong, and what to do. */
export class ToolError extends Error {
  override readonly name = 'ToolError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly nextActions: readonly NextActionRecord[] = [],
  ) {
    super(message);
  }
}

const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized:
    'The MCP client must send a valid token of svc in its Authorization header: ask the user for one (svc token create).',
  not_found: 'Take the id from a list tool, such as list_jobs; ids of one kind do not stand for another.',
  conflict: 'Look at the record first: its state does not allow this now.',
  rate_limited: 'Wait, then call again.',
  internal: 'This is a defect of svc: tell the user, with the request id.',
  unavailable: 'The server of svc cannot be reached or is overloaded.',
};

const REUSED_KEY =
  'This idempotency_key was used with other arguments: take a new idempotency_key for a new request.';

export function missingWriteScope(): ToolError {
  return new ToolError(
    'forbidden',
    'a write-scope token is required for this tool. The token of this connection may only read: ask the user to connect with a token of write scope.',
  );
}

/** A question about a metric that is not known, has no value or no direction: with the call that shows which there are. Any other error is as it was. */
export function aboutMetric(error: unknown, look: NextActionRecord): unknown {
  if (!(error instanceof ApiError)) return error;
  const isAbout = 'metric' in error.details || error.issues.some(({ path }) => path === 'metric');
  if (!isAbout || (error.code !== 'not_found' && error.code !== 'validation_error')) return error;
  const remedy = 'Name another one as `metric`; only the user can set a primary metric or a direction.';
  return new ToolError(error.code, `${whatOf(error)}. ${remedy}`, [look]);
}

/** Any error of a tool as one that the caller understands; null for a defect. */
export function toToolError(error: unknown, { group }: Pick<Tool, 'group'>): ToolError | null {
  if (error instanceof ToolError) return error;
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'forbidden' && group === 'control') return missingWriteScope();
  const code = error.code === 'network' || error.code === 'unreadable' ? 'unavailable' : error.code;
  const again =
    code === 'unavailable' && group !== 'control'
      ? ' Wait half a minute, then make the same call again.'
      : '';
  return new ToolError(code, `${toMessage(error, code)}${again}`);
}

function toMessage(error: ApiError, code: ErrorCode): string {
  if (code === 'forbidden') return `${error.message}. A token of read or write scope is required.`;
  if (code === 'conflict' && 'idempotency_key' in error.details) return REUSED_KEY;
  const what = whatOf(error);
  const request = typeof error.details['request_id'] === 'string' ? ` (${error.details['request_id']})` : '';
  return [`${what}${request}`, REMEDIES[code]].filter(Boolean).join('. ');
}

/** What programs of people take, in brackets: a model has the tools alone. */
const COMMANDS = / \((?:--|svc )[^()]*\)/g;

function whatOf(error: ApiError): string {
  const issues = error.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const what = [error.message, ...issues.filter((issue) => issue !== error.message)].join('; ');
  return what.replace(COMMANDS, '');
}
