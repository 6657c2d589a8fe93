import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { SCOPES, TOOL_INPUTS, type NextActionRecord, type Scope, type ToolName } from '@svc/contract';
import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { diagnosis } from '@svc/plugin-diagnosis';
import { evaluations } from '@svc/plugin-evaluations';
import { events } from '@svc/plugin-events';
import { failures } from '@svc/plugin-failures';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { ranking } from '@svc/plugin-ranking';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { service } from '@svc/plugin-service';
import { compileCheck } from '@svc/validation';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { startAdapter, type AdapterSettings, type Listening } from '../../src/adapter/index.js';
import { TOOLS } from '../../src/tools/index.js';

export const MAX_TOKENS = 4_000;

const SETTINGS = {
  host: '127.0.0.1',
  port: 0,
  maxTokens: MAX_TOKENS,
  allowedHosts: null,
  allowedOrigins: [],
  token: null,
} as const;

/** A real server, an adapter for it, and official clients. */
export class Lab {
  readonly #clients = new Map<Scope, Promise<Client>>();

  private constructor(
    readonly kernel: TestKernel,
    readonly adapter: Listening,
    /** By scope. */
    readonly tokens: Readonly<Record<string, string>>,
  ) {}

  static async open(): Promise<Lab> {
    const kernel = await createTestKernel({
      plugins: [
        auth(),
        projects(),
        events(),
        nodes(),
        jobs(),
        logs(),
        nodeMetrics(),
        runs(),
        metricDefinitions(),
        metrics(),
        failures(),
        checkpoints(),
        evaluations(),
        diagnosis(),
        ranking(),
        service(),
        runnerProcess(),
      ],
    });
    const tokens: Record<string, string> = {};
    for (const scope of SCOPES) {
      const draft = { name: scope, scope, expires_at: null } as const;
      tokens[scope] = (await createToken(kernel.db, draft, Date.now())).token;
    }
    return new Lab(kernel, await startAdapterFor(kernel.url), tokens);
  }

  async close(): Promise<void> {
    const clients = await Promise.all(this.#clients.values());
    await Promise.all(clients.map((client) => client.close()));
    await this.adapter.close(1_000);
    await this.kernel.close();
  }

  /** As a caller with a token of that scope. One for all that ask: to compile the schemas takes the client most of a second. */
  connect(scope: Scope): Promise<Client> {
    const client = this.#clients.get(scope) ?? connect(this.adapter.url, this.tokens[scope]!);
    this.#clients.set(scope, client);
    return client;
  }

  async post(path: string, body: unknown, method = 'POST') {
    const answer = await this.kernel.request(method, path, { token: this.tokens['write']!, body });
    expect(answer.status, JSON.stringify(answer.body)).to.be.below(300);
    return answer.body;
  }
}

export function startAdapterFor(
  url: string,
  settings: Partial<AdapterSettings> = {},
  limits?: { callMs: number },
): Promise<Listening> {
  return startAdapter({ ...SETTINGS, url, ...settings }, limits);
}

/** The official client; it checks structured answers against the output schemas once it has listed the tools. */
export async function connect(url: string, token: string): Promise<Client> {
  const client = await connectUnlisted(url, token);
  await client.listTools();
  return client;
}

export async function connectUnlisted(url: string, token = 'read'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests reach into answers of every shape
export type Answer = Record<string, any> & { next_actions: NextActionRecord[] };

/** Calls the tool and checks what holds for every answer: schemas on this side too, size, next actions that can be called. */
export async function callTool(client: Client, name: ToolName, args: object = {}): Promise<Answer> {
  const { isError, structuredContent, content } = await callRaw(client, name, args);
  expect(isError, textOf(content)).not.to.equal(true);
  const mistakes = compileCheck(TOOLS[name].outputSchema, 'leave')(structuredContent);
  expect(mistakes, `${name}: ${JSON.stringify(structuredContent)}`).to.deep.equal([]);
  const tokens = countTokens(JSON.stringify(structuredContent)) + countTokens(textOf(content));
  expect(tokens, `${name} answers with ${tokens} tokens`).to.be.at.most(MAX_TOKENS);
  const answer = structuredContent as Answer;
  for (const { tool, args: given } of answer.next_actions)
    expect(compileCheck(TOOL_INPUTS[tool], 'leave')(given), tool).to.deep.equal([]);
  return answer;
}

export async function submitJob(client: Client): Promise<string> {
  return (await callTool(client, 'submit_job', { command: ['true'] })).task_id as string;
}

export async function callRaw(client: Client, name: string, args: object = {}): Promise<CallToolResult> {
  const params = { name, arguments: args as Record<string, unknown> };
  return (await client.callTool(params, CallToolResultSchema)) as CallToolResult;
}

/** The text of an answer that is an error. */
export async function refusalOf(client: Client, name: string, args: object = {}): Promise<string> {
  const { isError, content } = await callRaw(client, name, args);
  expect(isError, textOf(content)).to.equal(true);
  return textOf(content);
}

export function textOf(content: CallToolResult['content']): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}
