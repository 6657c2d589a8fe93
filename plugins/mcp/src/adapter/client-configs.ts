/** How a client is told of the adapter. */
export interface ClientConfig {
  readonly client: string;
  /** A file of the client, or the word `command`. */
  readonly where: string;
  readonly text: string;
}

/** Stands for the token in what is printed: a token belongs in no terminal. */
export const TOKEN_PLACE = 'YOUR_TOKEN';

/** What the usual clients need to connect. `url`: of the endpoint. */
export function toClientConfigs(url: string): readonly ClientConfig[] {
  const bearer = `Bearer ${TOKEN_PLACE}`;
  const headers = { Authorization: bearer };
  return [
    {
      client: 'Claude Code',
      where: 'command',
      text: `claude mcp add --transport http svc ${url} --header "Authorization: ${bearer}"`,
    },
    {
      client: 'Claude Desktop (its settings take programs alone: mcp-remote passes the calls on)',
      where: 'claude_desktop_config.json',
      text: toJson({ mcpServers: { svc: throughProgram(url, bearer) } }),
    },
    {
      client: 'Cursor',
      where: '~/.cursor/mcp.json',
      text: toJson({ mcpServers: { svc: { url, headers } } }),
    },
    {
      client: 'VS Code (it asks for the token, because this file is often shared)',
      where: '.vscode/mcp.json',
      text: toJson(ofVsCode(url)),
    },
    {
      client: 'Codex (the token is in the variable SVC_TOKEN)',
      where: '~/.codex/config.toml',
      text: `[mcp_servers.svc]\nurl = "${url}"\nbearer_token_env_var = "SVC_TOKEN"`,
    },
    {
      client: 'Others (streamable HTTP)',
      where: 'their settings',
      text: toJson({ mcpServers: { svc: { type: 'streamable-http', url, headers } } }),
    },
  ];
}

/** The token is in the environment of the program, where its arguments do not show it. */
function throughProgram(url: string, bearer: string): object {
  const args = ['-y', 'mcp-remote', url, '--header', 'Authorization:${SVC_AUTHORIZATION}'];
  return { command: 'npx', args, env: { SVC_AUTHORIZATION: bearer } };
}

function ofVsCode(url: string): object {
  const input = { type: 'promptString', id: 'svc-token', description: 'Token of svc', password: true };
  const headers = { Authorization: 'Bearer ${input:svc-token}' };
  return { inputs: [input], servers: { svc: { type: 'http', url, headers } } };
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
