import { limit, route, strict, type RouteSpec } from '@svc/contract';
import { expect } from 'chai';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { BodyShare } from '../src/body.js';
import { compileInput } from '../src/input.js';
import { ok } from '../src/index.js';
import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const answers = { 200: Type.Unknown() };
const Body = strict({
  command: Type.Array(Type.String(), { minItems: 1 }),
  type: Type.Optional(Type.Enum(['TRAIN', 'EVALUATE'])),
  priority: Type.Optional(Type.Integer({ minimum: -10, maximum: 10, default: 0 })),
  resources: Type.Optional(
    strict({ gpu: Type.Optional(Type.Integer({ minimum: 0 })), cpu_only: Type.Optional(Type.Boolean()) }),
  ),
  env: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Z_]+$' }), Type.String(), { additionalProperties: false }),
  ),
  note: Type.Optional(Type.Union([Type.String({ maxLength: 5 }), Type.Null()])),
  points: Type.Optional(
    Type.Array(
      strict({
        value: Type.Union([Type.Number(), Type.Enum(['NaN', 'Infinity'])]),
        name: Type.String({ minLength: 1 }),
      }),
    ),
  ),
  config: Type.Optional(Type.Object({}, { additionalProperties: true })),
});
const submit = route({
  id: 'submit',
  method: 'POST',
  path: '/jobs',
  scope: 'write',
  summary: '',
  body: Body,
  answers,
  bodyLimitBytes: 2000,
});
const patch = route({ ...submit, id: 'patch', method: 'PATCH', body: Type.Partial(Body) });
const cancel = route({ id: 'cancel', method: 'POST', path: '/cancel', scope: 'write', summary: '', answers });
const list = route({
  id: 'list',
  method: 'GET',
  path: '/jobs',
  scope: 'read',
  summary: '',
  answers,
  query: strict({
    limit: limit(100, 1000),
    names: Type.Optional(Type.String()),
    window_s: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    deep: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Enum(['QUEUED', 'RUNNING'])),
  }),
});

describe('input', () => {
  let kernel: TestKernel;
  before(async () => {
    const echo = ({ body, query }: { body: unknown; query: unknown }) => ok({ body, query });
    const add = (specs: RouteSpec[]) =>
      plugin('echo', ({ hooks, name }) =>
        hooks.routes.tap(name, (routes) => specs.forEach((spec) => routes.add(spec, echo as never))),
      );
    kernel = await createTestKernel({ plugins: [add([submit, patch, cancel, list])] });
  });
  after(() => kernel.close());

  const post = (body: unknown, method = 'POST', path = '/jobs') =>
    kernel.request(method, path, { token: 'write', body });
  const query = async (search: string) =>
    (await kernel.request('GET', `/jobs${search}`, { token: 'read' })).body;
  const issuesOf = (body: {
    error: { code: string; details: { errors: { path: string; message: string }[] } };
  }) => {
    expect(body.error.code).to.equal('validation_error');
    return body.error.details.errors.map(({ path, message }) => `${path}: ${message}`);
  };

  describe('of the body', () => {
    const refused: [string, object, string | string[]][] = [
      ['a typo', { comand: ['x'], command: ['x'] }, 'comand: unknown field; did you mean "command"?'],
      [
        'a field that is like no other',
        { command: ['x'], zebra: 1 },
        /^zebra: unknown field; there are command, type/.source,
      ],
      ['what is missing', {}, 'command: is required'],
      ['an empty list', { command: [] }, 'command: must have at least 1 item'],
      ['a wrong type', { command: 'python train.py' }, 'command: must be an array, not a string'],
      ['a wrong type inside a list', { command: ['x', 7] }, 'command[1]: must be a string, not a number'],
      [
        'a number that is no integer',
        { command: ['x'], resources: { gpu: 1.5 } },
        'resources.gpu: must be an integer, not a number',
      ],
      [
        'a number as a string: bodies are not coerced',
        { command: ['x'], priority: '3' },
        'priority: must be an integer, not a string',
      ],
      ['a number out of range', { command: ['x'], priority: 11 }, 'priority: must be at most 10'],
      ['an unknown word', { command: ['x'], type: 'train' }, 'type: must be one of TRAIN, EVALUATE'],
      ['a name that does not match', { command: ['x'], env: { 'a b': '1' } }, 'env.a b: is no allowed name'],
      ['no alternative of a union', { command: ['x'], note: 5 }, 'note: must be a string or null'],
      [
        'an alternative that nearly fits',
        { command: ['x'], note: 'too long' },
        'note: must have at most 5 characters, not 8',
      ],
      [
        'several at once',
        {
          command: ['x'],
          points: [
            { value: 1, name: 'loss' },
            { value: 'nan', name: '' },
          ],
        },
        ['points[1].value: must be a number or one of NaN, Infinity', 'points[1].name: must not be empty'],
      ],
      ['a body that is no object', ['x'], ': must be an object, not an array'],
    ];
    for (const [what, body, expected] of refused) {
      it(`refuses ${what}`, async () => {
        const answer = await post(body);
        expect(answer.status).to.equal(422);
        const issues = issuesOf(answer.body);
        if (typeof expected === 'string' && expected.startsWith('^'))
          expect(issues[0]).to.match(new RegExp(expected));
        else expect(issues).to.have.members([expected].flat());
      });
    }

    it('says the first issue in the message', async () => {
      expect((await post({})).body.error.message).to.equal('command: is required');
    });

    it('never repeats a value, which may be a secret', async () => {
      const { body } = await post({
        command: ['x'],
        env: { TOKEN: ['hunter2'] },
        note: { secret: 'hunter2' },
      });
      expect(JSON.stringify(body)).not.to.contain('hunter2');
    });

    it('fills in defaults, but not in a PATCH', async () => {
      expect((await post({ command: ['x'] })).body.body).to.deep.equal({ command: ['x'], priority: 0 });
      expect((await post({ note: null }, 'PATCH')).body.body).to.deep.equal({ note: null });
    });

    it('refuses malformed JSON, saying where', async () => {
      expect(issuesOf((await post('{\n "command": [}\n}')).body)).to.deep.equal([
        ': the body is malformed JSON at line 2, column 14',
      ]);
      expect(issuesOf((await post('{"command": ["x"')).body)[0]).to.contain(
        'malformed JSON at line 1, column 17',
      );
      expect(issuesOf((await post(Buffer.from([0x22, 0xff, 0x22]))).body)).to.deep.equal([
        ': the body is not valid UTF-8; send it uncompressed',
      ]);
    });

    it('refuses what nests too deep', async () => {
      for (const depth of [65, 400]) {
        const { status, body } = await post(`{"note":${'['.repeat(depth)}${']'.repeat(depth)}}`);
        expect(status).to.equal(422);
        expect(issuesOf(body)).to.deep.equal(['note: must not nest more than 64 levels deep']);
      }
    });

    it('refuses what is not said to be JSON', async () => {
      const headers = { 'Content-Type': 'text/plain' };
      const { status, body } = await kernel.request('POST', '/jobs', {
        token: 'write',
        body: '{"command":["x"]}',
        headers,
      });
      expect([status, issuesOf(body)[0]]).to.deep.equal([
        422,
        ': the body must be JSON: send "Content-Type: application/json", not "text/plain"',
      ]);
    });

    it('takes none where the route has none, and an empty one where nothing is required', async () => {
      expect((await kernel.request('POST', '/cancel', { token: 'write' })).status).to.equal(200);
      expect((await post({}, 'POST', '/cancel')).status).to.equal(200);
      expect(issuesOf((await post({ a: 1 }, 'POST', '/cancel')).body)).to.deep.equal([
        ': the body must be left out: this endpoint takes none',
      ]);
      expect((await kernel.request('PATCH', '/jobs', { token: 'write' })).body.body).to.deep.equal({});
    });

    it('treats __proto__ as a name like any other', async () => {
      expect(issuesOf((await post('{"command":["x"],"__proto__":{"polluted":true}}')).body)[0]).to.contain(
        '__proto__: unknown field',
      );
      const open = await post('{"command":["x"],"config":{"__proto__":{"polluted":true},"constructor":1}}');
      expect(open.status).to.equal(200);
      expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
    });
  });

  describe('of the query', () => {
    it('becomes what the schema says, with defaults', async () => {
      expect((await query('?window_s=1.5e1&deep=true&names=a,b')).query).to.deep.equal({
        window_s: 15,
        deep: true,
        names: 'a,b',
        limit: 100,
      });
      expect((await query('?names=1')).query.names).to.equal('1');
    });

    it('keeps the last of a parameter that is repeated', async () => {
      expect((await query('?names=a&names=b')).query.names).to.equal('b');
    });

    const refused: [string, string][] = [
      ['?limit=0', 'limit: must be at least 1'],
      ['?limit=1001', 'limit: must be at most 1000'],
      ['?limit=', 'limit: must be an integer, not a string'],
      ['?limit=ten', 'limit: must be an integer, not a string'],
      ['?limit=1.5', 'limit: must be an integer, not a string'],
      ['?limit=0x10', 'limit: must be an integer, not a string'],
      ['?deep=1', 'deep: must be a boolean, not a string'],
      ['?lmit=5', 'lmit: unknown field; did you mean "limit"?'],
      ['?status=DONE', 'status: must be one of QUEUED, RUNNING'],
      ['?__proto__=1', '__proto__: unknown field; there are limit, names, window_s, deep, status'],
    ];
    for (const [search, expected] of refused) {
      it(`refuses ${search}`, async () => expect(issuesOf(await query(search))).to.deep.equal([expected]));
    }
  });

  describe('over the limit', () => {
    const large = JSON.stringify({ command: ['x'.repeat(3000)] });

    it('is refused when its length is said, and the connection goes on', async () => {
      expect((await post(large)).status).to.equal(413);
      expect((await post({ command: ['x'] })).status).to.equal(200);
    });

    it('is refused when it has very many values for its limit', async () => {
      expect((await post({ command: Array<number>(400).fill(1) })).status).to.equal(413);
    });

    it('is refused while it streams, before its end', async () => {
      const { port } = new URL(kernel.url);
      const headers = { Authorization: 'Bearer write', 'Content-Type': 'application/json' };
      const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/jobs', headers });
      call.write(large);
      const status = await new Promise((resolve) =>
        call.on('response', ({ statusCode }) => resolve(statusCode)),
      );
      expect(status).to.equal(413);
      call.destroy();
    });
  });

  it('parses one large body in each turn of the event loop, and small ones at once', async () => {
    const readInput = compileInput({ ...submit, bodyLimitBytes: 1_000_000 });
    const arrived = (note: string, chars: number) => {
      const body = JSON.stringify({ command: [note, 'x'.repeat(chars)] });
      const headers = { 'content-type': 'application/json' };
      return Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage;
    };
    let turn = 0;
    let counter = setImmediate(function count() {
      turn += 1;
      counter = setImmediate(count);
    });
    const turnOf = async (note: string, chars: number) => {
      const share = new BodyShare();
      await readInput(arrived(note, chars), '', share);
      share.release();
      return turn;
    };
    const turnsOf = (chars: number) => Promise.all(['a', 'b', 'c'].map((note) => turnOf(note, chars)));
    const [small, large] = [await turnsOf(1000), await turnsOf(100_000)];
    clearImmediate(counter);
    expect(new Set(small).size, `turns ${small.join()}`).to.equal(1);
    expect(new Set(large).size, `turns ${large.join()}`).to.equal(3);
  });
});
