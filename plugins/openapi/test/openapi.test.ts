import { route, routes as contract, type RouteSpec } from '@svc/contract';
import { definePlugin, ok, sse } from '@svc/kernel';
import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { auth, authRef, createToken } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { openapi, createDocument, type OpenApiDocument } from '@svc/plugin-openapi';
import { projects } from '@svc/plugin-projects';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { Type } from 'typebox';

const EVERY_ROUTE = Object.values(contract).filter(
  (value): value is RouteSpec & typeof value => 'method' in value,
);

/** As somebody outside this repository would write it, with a schema that takes the name of one of ours. */
const thirdParty = definePlugin({
  name: 'third-party',
  setup(ctx) {
    const Thing = Type.Object({ 'a/b': Type.Number() }, { $id: 'Project' });
    const getThing = route({
      id: 'things.get',
      method: 'GET',
      path: '/things/{name:path}',
      scope: 'read',
      summary: 'A thing & its <parts>.',
      query: Type.Object({ deep: Type.Boolean(), part: Type.Optional(Type.Array(Thing)) }),
      answers: { 200: Thing },
    });
    const watchThings = route({
      id: 'things.watch',
      method: 'GET',
      path: '/things:watch',
      scope: 'none',
      summary: 'Watches things.',
      stream: 'sse',
      event: Thing,
    });
    ctx.hooks.routes.tap(ctx.name, (routes) => {
      routes.add(getThing, () => ok({ 'a/b': 1 }));
      routes.add(watchThings, () => sse((stream) => stream.end()));
    });
  },
});

describe('openapi', () => {
  let kernel: TestKernel;
  let document: OpenApiDocument;
  let token: string;

  before(async () => {
    kernel = await createTestKernel({ plugins: [auth(), projects(), events(), openapi(), thirdParty()] });
    token = kernel.use(authRef).takeFirstToken()!;
    document = (await kernel.request('GET', '/openapi.json', { token })).body;
  });
  after(() => kernel.close());

  async function problemsOf(checked: OpenApiDocument): Promise<unknown> {
    const { valid, errors } = await new Validator().validate(
      structuredClone(checked) as unknown as Record<string, unknown>,
    );
    return valid ? null : errors;
  }

  describe('the document', () => {
    it('is valid OpenAPI 3.1, of a running server and of the whole contract', async () => {
      expect(document.openapi).to.equal('3.1.0');
      expect(await problemsOf(document)).to.equal(null);
      expect(await problemsOf(createDocument(EVERY_ROUTE, '1.0.0'))).to.equal(null);
    });

    it('has references that all lead somewhere', () => {
      const whole = JSON.parse(JSON.stringify(createDocument(EVERY_ROUTE, '1.0.0')));
      const references = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
        ([, path = '']) => path,
      );
      expect(references).to.include('components/schemas/Job').and.include('components/responses/not_found');
      for (const path of new Set(references)) {
        const target = path.split('/').reduce((node, key) => node?.[key], whole);
        expect(target, path).to.be.an('object');
      }
    });

    it('describes every route of every plugin, and no other', () => {
      const described = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const registered = kernel.ctx.registered.routes.map(
        ({ spec }) => `${spec.method} ${spec.path.replace(':path}', '}')}`,
      );
      expect(described.sort()).to.deep.equal(registered.sort());
      expect(described).to.include('GET /things/{name}').and.include('GET /openapi.json');
    });

    it('describes the whole contract with operation ids that are unique', () => {
      const { paths } = createDocument(EVERY_ROUTE, '1.0.0');
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map((operation) => operation.operationId),
      );
      expect(ids.sort()).to.deep.equal(EVERY_ROUTE.map(({ id }) => id).sort());
      expect(new Set(ids).size).to.equal(ids.length);
    });

    it('says of an operation what it takes, answers and needs', () => {
      const operation = document.paths['/projects/{project_id}']!['patch']!;
      expect(operation).to.deep.include({
        operationId: 'projects.update',
        'x-scope': 'write',
        tags: ['projects'],
      });
      expect(operation.description).to.include('write scope');
      expect(operation.parameters).to.deep.equal([
        { name: 'project_id', in: 'path', required: true, schema: { type: 'string' } },
      ]);
      expect(Object.keys(operation.requestBody!.content)).to.deep.equal(['application/json']);
      expect(operation.responses['200']).to.deep.equal({
        description: 'Done.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Project' } } },
      });
      expect(Object.keys(operation.responses)).to.have.members([
        '200',
        '401',
        '403',
        '404',
        '413',
        '422',
        'default',
      ]);
    });

    it('says how large a body may be, in KiB or MiB', () => {
      const limitOf = (path: string) =>
        (document.paths[path]!['post']!.requestBody as { description?: string }).description;
      expect(limitOf('/auth/sign-in-links:redeem')).to.equal('At most 1 KiB.');
      expect(limitOf('/projects')).to.equal('At most 1 MiB.');
    });

    it('requires the token everywhere but where a route needs none', () => {
      expect(document.security).to.deep.equal([{ bearer: [] }]);
      expect(document.components.securitySchemes['bearer']).to.include({ type: 'http', scheme: 'bearer' });
      expect(document.paths['/docs']!['get']!.security).to.deep.equal([]);
      expect(document.paths['/things:watch']!['get']).to.deep.include({ 'x-scope': 'none', security: [] });
      expect(document.paths['/events']!['get']).not.to.have.property('security');
    });

    it('describes query parameters with their bounds and defaults', () => {
      const limit = document.paths['/events']!['get']!.parameters!.find(({ name }) => name === 'limit');
      expect(limit).to.deep.equal({
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 1000, default: 200 },
      });
      const deep = document.paths['/things/{name}']!['get']!.parameters!.find(({ name }) => name === 'deep');
      expect(deep).to.include({ in: 'query', required: true });
    });

    it('describes a stream by its messages, and how to resume it', () => {
      const { parameters, responses } = document.paths['/events/stream']!['get']!;
      expect(parameters!.find(({ name }) => name === 'Last-Event-ID')).to.include({
        in: 'header',
        required: false,
      });
      expect(responses['200']).to.deep.nested.include({
        'content.text/event-stream': {
          schema: { type: 'string' },
          'x-event-schema': { $ref: '#/components/schemas/Event' },
        },
      });
    });

    it('describes the error envelope once, for every error', () => {
      const { responses, schemas } = document.components;
      expect(schemas).to.have.property('ErrorEnvelope');
      expect(responses).to.include.all.keys('validation_error', 'rate_limited', 'internal', 'error');
      expect(responses['conflict']).to.deep.nested.include({
        'content.application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } },
      });
    });

    it('keeps apart two schemas of one name', () => {
      const answer = document.paths['/things/{name}']!['get']!.responses['200'];
      expect(JSON.stringify(answer)).to.include('"a/b"').and.not.include('$ref');
      expect(JSON.stringify(document.components.schemas['Project'])).to.include('run_count');
    });
  });

  describe('access', () => {
    for (const scope of ['read', 'write', 'sdk', 'agent'] as const) {
      it(`to openapi.json is given to ${scope} scope`, async () => {
        const draft = { name: scope, scope, expires_at: null };
        const caller = await createToken(kernel.db, draft, Date.now());
        const { status, body } = await kernel.request('GET', '/openapi.json', { token: caller.token });
        expect([status, body]).to.deep.equal([200, document]);
      });
    }

    it('to openapi.json needs a token', async () => {
      expect((await kernel.request('GET', '/openapi.json')).body.error.code).to.equal('unauthorized');
      expect((await kernel.request('GET', '/openapi.json', { token: 'x' })).body.error.code).to.equal(
        'unauthorized',
      );
    });

    for (const path of ['/openapi.json', '/docs']) {
      it(`to ${path} takes neither parameters nor a body`, async () => {
        const { body } = await kernel.request('GET', `${path}?x=1`, { token });
        expect(body.error.details.errors[0].path).to.equal('x');
        expect((await kernel.request('POST', path, { token })).body.error.code).to.equal(
          'method_not_allowed',
        );
      });
    }
  });

  describe('the page', () => {
    let page: string;
    before(async () => {
      const answer = await kernel.request('GET', '/docs');
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
        200,
        'text/html; charset=utf-8',
      ]);
      page = answer.body;
    });

    it('shows every operation and every schema', () => {
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const method of Object.keys(methods)) {
          expect(page).to.include(`<code>${method.toUpperCase()} ${path}</code>`);
        }
      }
      for (const name of Object.keys(document.components.schemas))
        expect(page).to.include(`id="schema-${name}"`);
    });

    it('has links that all lead somewhere on it', () => {
      for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(page).to.include(`id="${target}"`);
    });

    it('needs no script and nothing from elsewhere', () => {
      expect(page).not.to.match(/<script|<link|<img|\bsrc=|\son\w+=|https?:/);
    });

    it('writes what plugins say as text', () => {
      expect(page).to.include('A thing &amp; its &lt;parts&gt;.');
    });
  });
});
