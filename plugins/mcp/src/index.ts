import { definePlugin } from '@svc/kernel';
import { Type } from 'typebox';
import { fileURLToPath } from 'node:url';
import { loaderOptions } from './loader-options.js';
import { Supervisor } from './supervisor.js';
import type { AdapterSettings } from './adapter/settings.js';

const Names = Type.Array(Type.String({ minLength: 1 }));

/** Runs the MCP adapter beside the server, as a process of its own. */
export const mcp = definePlugin({
  name: 'mcp',
  options: Type.Object(
    {
      host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on.' }),
      port: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 65_535,
          description: 'Port to listen on; default: the one after that of the server.',
        }),
      ),
      max_tokens: Type.Integer({
        default: 4000,
        minimum: 1000,
        maximum: 100_000,
        description: 'Of one answer.',
      }),
      allowed_hosts: Type.Optional(Names),
      allowed_origins: Type.Optional(Names),
    },
    { additionalProperties: false },
  ),
  setup(ctx, { host, port, max_tokens, allowed_hosts, allowed_origins }) {
    // Where the system chose the port of the server, nobody could tell that of the adapter.
    const isChosenBySystem = ctx.config.port === 0;
    if (port === undefined && isChosenBySystem) return;
    ctx.listening((address) => {
      const settings: AdapterSettings = {
        url: address.url,
        host,
        port: port ?? address.port + 1,
        maxTokens: max_tokens,
        allowedHosts: allowed_hosts ?? null,
        allowedOrigins: allowed_origins ?? [],
        token: null,
      };
      const supervisor = new Supervisor([...OPTIONS, PROGRAM, JSON.stringify(settings)], {
        info: (message) => ctx.log.info(message),
        warn: (message) => ctx.log.warn(message),
      });
      ctx.onClose(() => supervisor.stop());
      supervisor.start();
    });
  },
});

const PROGRAM = fileURLToPath(import.meta.url).replace(/index\.(\w+)$/, 'adapter/main.$1');
const OPTIONS = loaderOptions(process.execArgv);
