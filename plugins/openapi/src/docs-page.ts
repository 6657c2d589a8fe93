import type { Json } from './components.js';
import type { OpenApiDocument, Operation, Parameter } from './document.js';
import { escapeHtml, toNotation } from './notation.js';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
code { font: 13px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
nav a { margin-right: 0.75rem; }
summary { cursor: pointer; padding: 0.35rem 0; }
summary small { opacity: 0.75; }
dl { margin: 0 0 1rem 1.25rem; }
dt { font-weight: 600; margin-top: 0.5rem; }
dd { margin: 0; }
`;

/** The document as one page that needs neither a script nor anything from elsewhere. */
export function renderDocs(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>${own.map(renderOperation).join('')}`;
  });
  const links = document.tags.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`);
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `<dt id="schema-${escapeHtml(name)}">${escapeHtml(name)}</dt>${renderSchema(schema)}`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)} API</title><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)} API <small>${escapeHtml(version)}</small></h1><p>${escapeHtml(description)}</p>`,
    '<p>All paths are below <code>/api/v1</code>. For programs: <code>GET /api/v1/openapi.json</code>, with a token.</p>',
    `<nav>${links.join('')}<a href="#schemas">schemas</a></nav>`,
    ...sections,
    `<h2 id="schemas">schemas</h2><dl>${schemas.join('')}</dl></body></html>\n`,
  ].join('\n');
}

function renderOperation({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): string {
  const address = `${method.toUpperCase()} ${path}`;
  const parts = [
    ...(operation.parameters ?? []).map(renderParameter),
    ...renderContent('body', operation.requestBody?.content),
    ...Object.entries(operation.responses).flatMap(([status, response]) => renderResponse(status, response)),
  ];
  return [
    `<details id="${escapeHtml(operation.operationId)}">`,
    `<summary><code>${escapeHtml(address)}</code> <small>${escapeHtml(operation.summary)}</small></summary>`,
    `<p>${escapeHtml(operation.description)}</p><dl>${parts.join('')}</dl></details>`,
  ].join('');
}

function renderParameter({ name, in: place, required, schema, description = '' }: Parameter): string {
  const head = `${place} <code>${escapeHtml(name)}${required ? '' : '?'}</code>`;
  return `<dt>${head}</dt>${renderSchema(schema)}${description && `<dd>${escapeHtml(description)}</dd>`}`;
}

/** Error responses have no content here, as all errors have the same envelope. */
function renderResponse(status: string, response: Json): string[] {
  const { content } = response as { content?: Record<string, Json> };
  return renderContent(`answer ${status}`, content);
}

function renderContent(title: string, content: Record<string, Json> | undefined): string[] {
  return Object.entries(content ?? {}).map(([type, media]) => {
    const { schema = {}, 'x-event-schema': event } = media as { schema?: Json; 'x-event-schema'?: Json };
    return `<dt>${escapeHtml(title)} <code>${escapeHtml(type)}</code></dt>${renderSchema(event ?? schema)}`;
  });
}

function renderSchema(schema: Json): string {
  return `<dd><code>${toNotation(schema)}</code></dd>`;
}
