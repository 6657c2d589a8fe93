import { Type } from 'typebox';
import { definePlugin } from '@svc/kernel';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Extensions, consoleRef } from './extensions.js';
import { serveConsole } from './serve.js';

export { consoleRef, type ConsolePage, type ConsoleRunTab, type ConsoleService } from './extensions.js';

/** Serves the built console at every path outside /api, with the pages that other plugins add to it. */
const consolePlugin = definePlugin({
  name: 'console',
  options: Type.Object(
    {
      dir: Type.Optional(
        Type.String({ minLength: 1, description: 'The built console; default: that of @svc/ui.' }),
      ),
    },
    { additionalProperties: false },
  ),
  setup(ctx, { dir = defaultDir() }) {
    const extensions = new Extensions();
    ctx.provide(consoleRef, extensions);
    ctx.hooks.routes.tap(ctx.name, (routes) => routes.fallback(serveConsole(dir, extensions)));
  },
});

export { consolePlugin as console };

function defaultDir(): string {
  return join(dirname(createRequire(import.meta.url).resolve('@svc/ui/package.json')), 'dist');
}
