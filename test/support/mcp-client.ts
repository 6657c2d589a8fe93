import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { routes, type NextActionRecord, type Scope, type ToolName } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { untilPrinted, type Server, type Workplace } from './workplace.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests reach into answers of every shape
export type Answer = Record<string, any> & { next_actions: NextActionRecord[] };

/** `svc mcp` on a port of its own. Answers the address of the endpoint. */
export function startMcp(workplace: Workplace, env: NodeJS.ProcessEnv): Promise<string> {
  const program = workplace.start(['mcp', '--port', '0'], env);
  return untilPrinted(program, /svc mcp listens on (http:\S+?),/);
}

export async function createToken(
  server: Server,
  scope: Scope,
  expires_at: number | null = null,
): Promise<string> {
  return (await server.client.call(routes.createToken, { body: { name: scope, scope, expires_at } })).token;
}

/** Of one answer, its structured and its text form together. */
const MOST_TOKENS = 4_000;

/** The official client, which checks each answer against the output schema of its tool, as it has listed it. */
export class McpClient {
  private constructor(readonly client: Client) {}

  static async connect(url: string, token: string): Promise<McpClient> {
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { tasks: {} } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    await client.listTools();
    return new McpClient(client);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** The answer as it is, an error too. Checks its size with a tokenizer. */
  async callRaw(name: ToolName, args: object = {}): Promise<CallToolResult> {
    const params = { name, arguments: args as Record<string, unknown> };
    const answer = (await this.client.callTool(params, CallToolResultSchema)) as CallToolResult;
    const { content, structuredContent } = answer;
    const tokens = countTokens(textOf(content)) + countTokens(JSON.stringify(structuredContent ?? {}));
    expect(tokens, `${name} answers with ${tokens} tokens`).to.be.at.most(MOST_TOKENS);
    return answer;
  }

  async call(name: ToolName, args: object = {}): Promise<Answer> {
    const { isError, content, structuredContent } = await this.callRaw(name, args);
    expect(isError, textOf(content)).not.to.equal(true);
    return structuredContent as Answer;
  }

  /** Calls the next action of that tool, with its arguments as they are. */
  async follow(answer: Answer, tool: ToolName): Promise<Answer> {
    const action = answer.next_actions.find((each) => each.tool === tool);
    expect(action, `${tool} among ${JSON.stringify(answer.next_actions)}`).not.to.equal(undefined);
    return this.call(tool, action!.args);
  }

  /** Follows the job of a handle to its end. */
  async followJob(handle: Answer): Promise<Answer> {
    let job = await this.follow(handle, 'get_job');
    await until(
      async () => {
        if (job['poll_interval'] !== null) job = await this.follow(job, 'get_job');
        return job['poll_interval'] === null;
      },
      { timeoutMs: 60_000, everyMs: 100 },
    );
    return job;
  }
}

export function textOf(content: CallToolResult['content']): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}
