import { routes as contract } from '@svc/contract';
import { definePlugin, download, ok } from '@svc/kernel';
import { readFileSync } from 'node:fs';
import { renderDocs } from './docs-page.js';
import { createDocument, type OpenApiDocument } from './document.js';

export { createDocument, type OpenApiDocument } from './document.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const openapi = definePlugin({
  name: 'openapi',
  setup(ctx) {
    let made: OpenApiDocument | undefined;
    // Every plugin's routes are known only after all have registered.
    const document = () =>
      (made ??= createDocument(
        ctx.registered.routes.map(({ spec }) => spec),
        version,
      ));
    ctx.hooks.routes.tap(ctx.name, (routes) => {
      routes.add(contract.getOpenApi, () => ok(document()));
      routes.add(contract.getDocs, () =>
        download({ contentType: 'text/html; charset=utf-8', body: renderDocs(document()) }),
      );
    });
  },
});
