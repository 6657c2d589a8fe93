import {
  CallToolRequestSchema,
  CancelTaskRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { fail } from '@svc/validation';
import type { IncomingMessage } from 'node:http';

const WITHOUT_BATCHES = '2025-06-18';
const MOST_IN_BATCH = 10;

/** Clients that speak a version with batches send few of them; each call of one may ask for much. Throws HttpError. */
export function refuseBatch({ headers }: Pick<IncomingMessage, 'headers'>, body: unknown): void {
  if (!Array.isArray(body)) return;
  const version = headers['mcp-protocol-version'];
  if (typeof version === 'string' && version >= WITHOUT_BATCHES)
    fail('validation_error', `protocol version ${version} has no batches: send one message`);
  if (body.length > MOST_IN_BATCH)
    fail('validation_error', `a batch may have ${MOST_IN_BATCH} messages at most`);
}

const ASKING = new Set([
  'tools/list',
  'tools/call',
  'resources/read',
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
]);

/** Whether the answer comes from the REST API, which then checks the token. */
export function asksServer(body: unknown): boolean {
  return (Array.isArray(body) ? body : [body]).every((message) => ASKING.has(methodOf(message)));
}

const SCHEMAS = {
  'tools/call': CallToolRequestSchema,
  'resources/read': ReadResourceRequestSchema,
  'prompts/get': GetPromptRequestSchema,
  'tasks/get': GetTaskRequestSchema,
  'tasks/result': GetTaskPayloadRequestSchema,
  'tasks/cancel': CancelTaskRequestSchema,
} as const;

/** The answer to a request whose parameters are of a wrong form, which the SDK would call an internal error; else null. */
export function refuseWrongParams(body: unknown): object | null {
  const method = methodOf(body);
  const schema = Object.hasOwn(SCHEMAS, method) ? SCHEMAS[method as keyof typeof SCHEMAS] : undefined;
  const checked = schema?.safeParse(body);
  if (!checked || checked.success) return null;
  const mistakes = checked.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
  const id = (body as { id?: unknown }).id ?? null;
  const message = `${method} has wrong parameters: ${mistakes.join('; ')}`.slice(0, 1_000);
  return { jsonrpc: '2.0', id, error: { code: ErrorCode.InvalidParams, message } };
}

function methodOf(message: unknown): string {
  const method = (message as { method?: unknown } | null)?.method;
  return typeof method === 'string' ? method : '';
}
