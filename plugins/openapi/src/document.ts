import {
  ERRORS,
  ErrorEnvelope,
  MIB,
  sizeText,
  type ErrorCode,
  type RouteScope,
  type RouteSpec,
} from '@svc/contract';
import { Components, type Json, type JsonObject } from './components.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Json[];
  readonly tags: readonly { readonly name: string }[];
  /** Path, then method in lower case, then the operation. */
  readonly paths: Readonly<Record<string, Record<string, Operation>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Json>>;
    readonly securitySchemes: Readonly<Record<string, Json>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly 'x-scope': RouteScope;
  readonly security?: readonly Json[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: JsonObject };
  readonly responses: Readonly<Record<string, Json>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
  readonly description?: string;
}

const DESCRIPTION = [
  'JSON, UTF-8. Every `*_at` and `ts` is in milliseconds since the Unix epoch. Identifiers are answered with their kind prefix',
  'and accepted with or without it. Unknown fields and query parameters are refused. Every answer carries X-Request-Id.',
  '`next_actions` name tools of the MCP adapter; docs/api.md has the request of each.',
].join(' ');

const SCOPE_TEXT: Record<RouteScope, string> = {
  none: 'Needs no token.',
  any: 'Needs a valid token of any scope.',
  read: 'Needs a token of read or write scope.',
  write: 'Needs a token of write scope.',
  sdk: 'Needs a token of sdk or write scope.',
  agent: 'Needs a token of agent or write scope.',
  'read-or-agent': 'Needs a token of read, agent or write scope.',
  ingest: 'Needs the run ingest token of the run, or a token of sdk or write scope.',
};

/** The OpenAPI 3.1 document of the routes. */
export function createDocument(routes: readonly RouteSpec[], version: string): OpenApiDocument {
  const components = new Components();
  const envelope = components.refer(ErrorEnvelope);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const spec of routes) {
    const operations = (paths[toOpenApiPath(spec.path)] ??= {});
    operations[spec.method.toLowerCase()] = toOperation(spec, components);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version, description: DESCRIPTION },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map(toTag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: {
        error: toErrorResponse('Any other error, with its own status.', envelope),
        ...toErrors(envelope),
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer svc_...' },
      },
    },
  };
}

function toOperation(spec: RouteSpec, components: Components): Operation {
  const parameters = [
    ...toPathParameters(spec.path),
    ...toQueryParameters(spec, components),
    ...toHeaders(spec),
  ];
  return {
    operationId: spec.id,
    tags: [toTag(spec)],
    summary: spec.summary,
    description: SCOPE_TEXT[spec.scope],
    'x-scope': spec.scope,
    ...(spec.scope === 'none' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(spec.body && { requestBody: toRequestBody(spec, components) }),
    ...(spec.upload && { requestBody: { required: true, content: { [spec.upload]: {} } } }),
    responses: { ...toAnswers(spec, components), ...toRefusals(spec) },
  };
}

function toPathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)(:path)?\}/g)].map(([, name = '', takesSlashes]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(takesSlashes !== undefined && { description: 'May contain slashes.' }),
  }));
}

function toQueryParameters({ query }: RouteSpec, components: Components): Parameter[] {
  const required = new Set(query?.required ?? []);
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema: components.refer(schema),
  }));
}

function toHeaders({ stream }: RouteSpec): Parameter[] {
  if (stream !== 'sse') return [];
  const description = 'The id of the last message that the client has: the stream goes on behind it.';
  return [{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' }, description }];
}

function toRequestBody({ body, bodyLimitBytes = MIB }: RouteSpec, components: Components) {
  const schema = components.refer(body ?? {});
  const isRequired = ((body as { required?: readonly string[] }).required ?? []).length > 0;
  const description = `At most ${sizeText(bodyLimitBytes)}.`;
  return { required: isRequired, description, content: { 'application/json': { schema } } };
}

const STATUS_TEXT: Record<string, string> = { 200: 'Done.', 201: 'Created.' };

function toAnswers(spec: RouteSpec, components: Components): Record<string, Json> {
  if (spec.stream === 'sse') return { 200: toEventStream(spec, components) };
  if (spec.stream === 'download')
    return { 200: { description: 'A file, streamed.', content: { '*/*': {} } } };
  const answers = Object.entries(spec.answers ?? {}).map(([status, schema]): [string, Json] => [
    status,
    {
      description: STATUS_TEXT[status] ?? 'Done.',
      content: { 'application/json': { schema: components.refer(schema) } },
    },
  ]);
  return Object.fromEntries(answers);
}

/** OpenAPI 3.1 cannot describe one message of a stream, hence the extension. */
function toEventStream({ event, namedEvents = {} }: RouteSpec, components: Components): Json {
  const description =
    'Server-sent events without end: each `data` line is one JSON value as x-event-schema describes it.';
  const message = event && { 'x-event-schema': components.refer(event) };
  const named = Object.entries(namedEvents).map(
    ([name, schema]) => [name, components.refer(schema)] as const,
  );
  const others = named.length > 0 && { 'x-named-event-schemas': Object.fromEntries(named) };
  return {
    description,
    content: { 'text/event-stream': { schema: { type: 'string' }, ...message, ...others } },
  };
}

function toRefusals({ scope, path, body }: RouteSpec): Record<string, Json> {
  const codes: ErrorCode[] = [
    ...(scope === 'none' ? [] : (['unauthorized', 'forbidden'] as const)),
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(body ? (['payload_too_large'] as const) : []),
    'validation_error',
  ];
  const refusals = codes.map((code): [string, Json] => [
    String(ERRORS[code].status),
    { $ref: `#/components/responses/${code}` },
  ]);
  return { ...Object.fromEntries(refusals), default: { $ref: '#/components/responses/error' } };
}

function toErrors(envelope: Json): Record<string, Json> {
  const entries = Object.entries(ERRORS).map(([code, { meaning }]): [string, Json] => [
    code,
    toErrorResponse(`${code}: ${meaning}`, envelope),
  ]);
  return Object.fromEntries(entries);
}

function toErrorResponse(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

/** `/metric-definitions/{name:path}` to `/metric-definitions/{name}`. */
function toOpenApiPath(path: string): string {
  return path.replace(/\{(\w+):path\}/g, '{$1}');
}

/** `jobs.submit` belongs to `jobs`. */
function toTag({ id }: RouteSpec): string {
  return id.split('.')[0] ?? id;
}
