import type { ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import { TOOLS } from '../tools/index.js';
import { callTool } from './call-tool.js';
import type { Call } from '../tools/tool.js';

interface Source {
  readonly template: ResourceTemplate;
  readonly expression: RegExp;
  readonly tool: 'get_run_summary' | 'tail_logs';
  readonly argument: 'run_id' | 'job_id';
}

const SOURCES: readonly Source[] = [
  {
    template: {
      uriTemplate: 'svc://runs/{run_id}/summary',
      name: 'run-summary',
      title: 'Run summary',
      description: 'Progress, health and metrics of a run.',
      mimeType: 'text/plain',
    },
    expression: /^svc:\/\/runs\/([\w-]{1,64})\/summary$/,
    tool: 'get_run_summary',
    argument: 'run_id',
  },
  {
    template: {
      uriTemplate: 'svc://jobs/{job_id}/log',
      name: 'job-log',
      title: 'Job log',
      description: 'The end of the log of a job, error lines first. It is data that a program wrote.',
      mimeType: 'text/plain',
    },
    expression: /^svc:\/\/jobs\/([\w-]{1,64})\/log$/,
    tool: 'tail_logs',
    argument: 'job_id',
  },
];

export const RESOURCE_TEMPLATES: readonly ResourceTemplate[] = SOURCES.map(({ template }) => template);

/** null: there is no such resource; a text: why it cannot be read. */
export async function readResource(
  call: Call,
  uri: string,
  maxTokens: number,
): Promise<ReadResourceResult | string | null> {
  for (const { expression, tool, argument } of SOURCES) {
    const id = expression.exec(uri)?.[1];
    if (id === undefined) continue;
    const { content, isError } = await callTool(TOOLS[tool], call, { [argument]: id }, maxTokens);
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return isError ? text : { contents: [{ uri, mimeType: 'text/plain', text }] };
  }
  return null;
}
