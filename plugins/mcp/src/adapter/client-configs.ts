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
  const headers = { Authorization: `Bearer ${TOKEN_PLACE}` };
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      client: 'Claude Code',
      where: 'command',
      text: `claude mcp add --transport http svc ${url} --header "Authorization: Bearer ${TOKEN_PLACE}"`,
    },
    {
      client: 'Cursor',
      where: '~/.cursor/mcp.json',
      text: json({ mcpServers: { svc: { url, headers } } }),
    },
    {
      client: 'VS Code',
      where: '.vscode/mcp.json',
      text: json({ servers: { svc: { type: 'http', url, headers } } }),
    },
    {
      client: 'Others (streamable HTTP)',
      where: 'their settings',
      text: json({ mcpServers: { svc: { type: 'streamable-http', url, headers } } }),
    },
  ];
}
