import {
  TOOL_INPUTS,
  withoutDirection,
  type NextAction,
  type NextActionRecord,
  type ToolName,
} from '@svc/contract';
import { compileCheck, type Check } from '@svc/kernel';

const checks = new Map<string, Check>();

/** The tool exists and takes the arguments. */
export function isRunnable({ tool, args }: NextAction): boolean {
  if (!Object.hasOwn(TOOL_INPUTS, tool)) return false;
  const check = checks.get(tool) ?? compileCheck(TOOL_INPUTS[tool as ToolName], 'leave');
  checks.set(tool, check);
  return check(args).length === 0;
}

export function toRecord({ tool, args, reason }: NextAction): NextActionRecord {
  return { tool: tool as ToolName, args: { ...args }, reason: withoutDirection(reason) };
}
