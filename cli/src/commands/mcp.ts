import type { Command } from 'commander';
import { stopSignal, notifyReady, untilAborted } from '../lifetime.js';
import { note, printLines } from '../output/print.js';
import { isServerMeant, loadConnection } from '../settings.js';
import { Failure, UsageError } from '../failure.js';
import { parseBetween } from './parse.js';

interface McpOptions {
  readonly url?: string;
  readonly profile?: string;
  readonly dataDir?: string;
  readonly host: string;
  readonly port: number;
  readonly maxTokens: number;
  readonly allowedHost?: string[];
  readonly allowedOrigin?: string[];
  readonly printConfig?: boolean;
}

const GRACE_MS = 5_000;

export function addMcpCommand(program: Command): void {
  const collect = (value: string, before: string[] = []) => [...before, value];
  program
    .command('mcp')
    .description('run the MCP adapter, through which AI agents use a server of svc')
    .option(
      '--url <url>',
      'address of the server (SVC_URL; default: the one of svc login, else the local server)',
    )
    .option('--profile <name>', 'profile of svc login whose server is meant (SVC_PROFILE)')
    .option('--data-dir <dir>', 'data directory of the local server (SVC_DATA_DIR; default: ~/.svc)')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 lets the system choose one', parseBetween(0, 65_535), 8601)
    .option(
      '--max-tokens <n>',
      'size of an answer at most, in tokens of a language model',
      // As max_tokens of the plugin: a smaller answer has no room for its next actions.
      parseBetween(1_000, 100_000),
      4000,
    )
    .option(
      '--allowed-host <name>',
      'host name besides loopback by which clients reach it; may be repeated',
      collect,
    )
    .option(
      '--allowed-origin <origin>',
      'foreign origin of browsers that may call it; may be repeated',
      collect,
    )
    .option('--print-config', 'print how clients connect to the adapter, and end')
    .addHelpText(
      'after',
      `
A client sends its own token with each request, and the adapter passes it on. Callers without a token get that of
SVC_TOKEN, if it is set; the adapter then listens on loopback alone. The server of svc starts an adapter of its own
when svc.config.ts lists mcp().

Examples:
  svc mcp --url https://svc.example.org
  svc mcp --print-config`,
    )
    .action(runMcp);
}

async function runMcp(options: McpOptions, command: Command): Promise<void> {
  const { host, port, maxTokens, allowedHost, allowedOrigin } = options;
  const adapter = await import('@svc/plugin-mcp/adapter');
  if (options.printConfig) {
    if (port === 0)
      throw new UsageError('--print-config needs the port: 0 is chosen when the adapter starts');
    const isPortChosen = command.getOptionValueSource('port') !== 'default';
    const local = isPortChosen ? null : findLocalAdapter(options);
    printLines(toConfigLines(adapter.toClientConfigs(`${local ?? adapter.toUrl(host, port)}/mcp`)));
    return;
  }
  adapter.preferSmallMemory();
  const stop = stopSignal();
  const { url, token } = loadConnection(options);
  // A token that svc login saved is the user's, and does not stand for whoever reaches this port.
  const ownToken = process.env['SVC_TOKEN'] ? token : null;
  const starting = adapter.startAdapter({
    url,
    host,
    port,
    maxTokens,
    allowedHosts: allowedHost ?? null,
    allowedOrigins: allowedOrigin ?? [],
    token: ownToken,
  });
  const listening = await starting.catch((error: Error) => {
    throw new Failure(error.message, { cause: error });
  });
  printLines([`svc mcp listens on ${listening.url}/mcp, for the server at ${url}`]);
  if (ownToken !== null) note('callers without a token act with the one in SVC_TOKEN');
  notifyReady({ url: listening.url });
  await untilAborted(stop);
  await listening.close(GRACE_MS);
}

/** A server of this host has its adapter at the next port; null: it is elsewhere, or none runs. */
function findLocalAdapter(options: McpOptions): string | null {
  if (!isServerMeant(options)) return null;
  const { hostname, port } = new URL(loadConnection(options).url);
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return isHere && port !== '' ? `http://127.0.0.1:${Number(port) + 1}` : null;
}

function toConfigLines(configs: readonly { client: string; where: string; text: string }[]): string[] {
  return configs.flatMap(({ client, where, text }) => [`# ${client}: ${where}`, text, '']);
}
