import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { toToolError } from '../tools/tool-error.js';
import type { ToolGroup } from '../tools/tool.js';

/** For requests that have no other way to say that the REST API refused or did not answer. */
export async function ask<T>(question: () => Promise<T>, group: ToolGroup = 'observe'): Promise<T> {
  try {
    return await question();
  } catch (error) {
    const known = toToolError(error, { group });
    if (known === null) throw error;
    const code =
      known.code === 'unavailable' || known.code === 'internal'
        ? ErrorCode.InternalError
        : ErrorCode.InvalidParams;
    throw new McpError(code, `${known.code}: ${known.message}`);
  }
}
