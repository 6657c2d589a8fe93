import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { TOOL_INPUTS, TOOL_NAMES, routes, type NextActionRecord, type ToolName } from '@svc/contract';
import { compileCheck, didYouMean, type Check } from '@svc/validation';
import { toPrintable } from '../answer/clip.js';
import { fit } from '../answer/fit.js';
import { toActionLine } from '../answer/text.js';
import { TOOLS } from '../tools/index.js';
import { maybeDone, withKey } from '../tools/repeat.js';
import { ToolError, missingWriteScope, toToolError } from '../tools/tool-error.js';
import type { Call, Tool } from '../tools/tool.js';

const LONGEST_ERROR = 2000;
const checks = new Map<ToolName, Check>();

export function findTool(name: string): Tool | null {
  return Object.hasOwn(TOOLS, name) ? TOOLS[name as ToolName] : null;
}

export function unknownTool(name: string): string {
  const shown = toPrintable(name).slice(0, 100);
  return `there is no tool "${shown}"${didYouMean(shown, TOOL_NAMES)}; tools/list names all of them`;
}

/** The answer of the tool, or its error as one that a model can act on. Throws for a defect alone. */
export async function callTool(
  tool: Tool,
  call: Call,
  args: Readonly<Record<string, unknown>>,
  maxTokens: number,
): Promise<CallToolResult> {
  const given = withKey(tool, args);
  try {
    refuseWrongArguments(tool, args);
    const found = await tool.run(call, given);
    const { structured, text } = fit(found, maxTokens);
    return { content: [{ type: 'text', text }], structuredContent: { ...structured } };
  } catch (error) {
    call.signal.throwIfAborted();
    const known = toToolError(error, tool);
    if (known === null) throw error;
    return toErrorResult(tool.group === 'control' ? await toControlError(known, tool, call, given) : known);
  }
}

/** Whoever may not use the tool at all is told so, also when the arguments are wrong. */
async function toControlError(
  error: ToolError,
  tool: Tool,
  { client, signal }: Call,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolError> {
  if (error.code === 'unavailable') return maybeDone(error, tool, args);
  if (error.code !== 'validation_error') return error;
  try {
    const { can_write } = await client.call(routes.whoami, { signal });
    return can_write ? error : missingWriteScope();
  } catch (refusal) {
    signal.throwIfAborted();
    return toToolError(refusal, tool) ?? error;
  }
}

function refuseWrongArguments({ name }: Tool, args: Readonly<Record<string, unknown>>): void {
  const check = checks.get(name) ?? compileCheck(TOOL_INPUTS[name], 'leave');
  checks.set(name, check);
  const mistakes = check(args);
  if (mistakes.length === 0) return;
  const named = mistakes.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const takes = Object.keys(TOOL_INPUTS[name].properties).join(', ') || 'no arguments';
  throw new ToolError('validation_error', `${named.join('; ')}. ${name} takes ${takes}.`);
}

/** `structuredContent` is for answers alone: an error would not pass the output schema. Programs find it in `_meta`. */
function toErrorResult({ code, message, nextActions }: ToolError): CallToolResult {
  const shown = toPrintable(message).slice(0, LONGEST_ERROR);
  const next_actions = [...nextActions] as NextActionRecord[];
  const text = [`error ${code}: ${shown}`, ...next_actions.map(toActionLine)].join('\n');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { 'svc/error': { code, message: shown, next_actions } },
  };
}
