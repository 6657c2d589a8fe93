import type { Tool as PublishedTool } from '@modelcontextprotocol/sdk/types.js';
import { TOOL_INPUTS, routes } from '@svc/contract';
import { TOOLS } from '../tools/index.js';
import { publish, publishInput } from '../tools/published-schema.js';
import { ToolError } from '../tools/tool-error.js';
import type { Call, Tool } from '../tools/tool.js';

/** Calls of these can be followed as tasks of the protocol. */
export const TASK_TOOLS: ReadonlySet<string> = new Set(['submit_job', 'evaluate_checkpoint']);

let published: readonly (readonly [Tool, PublishedTool])[] | undefined;

/** All tools for a token of write scope, for one of read scope those without the Control group. Others may call none. */
export async function listTools({ client, signal }: Call): Promise<PublishedTool[]> {
  const { scope, can_write } = await client.call(routes.whoami, { signal });
  if (scope !== 'read' && !can_write)
    throw new ToolError('forbidden', 'the tools need a token of read or write scope: ask the user for one');
  published ??= Object.values(TOOLS).map((tool) => [tool, toPublished(tool)] as const);
  return published.filter(([{ group }]) => can_write || group !== 'control').map(([, tool]) => tool);
}

function toPublished(tool: Tool): PublishedTool {
  const { name, title, description, group, isDestructive = false, isIdempotent = false } = tool;
  const isReading = group !== 'control';
  return {
    name,
    title,
    description,
    inputSchema: publishInput(TOOL_INPUTS[name]) as PublishedTool['inputSchema'],
    outputSchema: publish(tool.outputSchema) as NonNullable<PublishedTool['outputSchema']>,
    annotations: {
      title,
      readOnlyHint: isReading,
      destructiveHint: isDestructive,
      idempotentHint: isReading || isIdempotent,
      // A job runs any program; everything else stays within the server.
      openWorldHint: TASK_TOOLS.has(name) || name === 'retry_job',
    },
    ...(TASK_TOOLS.has(name) && { execution: { taskSupport: 'optional' as const } }),
  };
}
