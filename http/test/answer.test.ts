import { MIB, listOf, nullable, route, strict, type RouteSpec } from '@svc/contract';
import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Type } from 'typebox';
import { definePlugin } from '@svc/kernel';
import { ok, type RouteHandler } from '../src/index.js';
import { LIST_BYTES, toJsonBytes } from '../src/answer.js';

const Item = Type.Object({}, { additionalProperties: true });
const read = <const A extends NonNullable<RouteSpec['answers']>>(name: string, answers: A) =>
  route({ id: `big.${name}`, method: 'GET', path: `/${name}`, scope: 'read', summary: name, answers });

const list = read('list', { 200: listOf(Item) });
const paged = read('paged', {
  200: strict({
    items: Type.Array(Item),
    next_before: nullable(Type.Integer()),
    truncated: Type.Optional(Type.Literal(true)),
  }),
});
const one = read('one', { 200: Item });

describe('an answer', () => {
  let kernel: TestKernel;
  let body: unknown;
  before(async () => {
    const answer = (() => ok(body)) as unknown as RouteHandler<typeof one>;
    const plugin = definePlugin({
      name: 'big',
      setup: ({ hooks }) =>
        hooks.routes.tap('big', (routes) => {
          for (const spec of [list, paged, one]) routes.add(spec as typeof one, answer);
        }),
    });
    kernel = await createTestKernel({ plugins: [plugin()] });
  });
  after(() => kernel.close());

  const get = (path: string) => kernel.request('GET', path, { token: 'read' });
  const items = (count: number, sizeBytes: number) =>
    Array.from({ length: count }, (_, index) => ({
      created_at: 1000 - index,
      text: 'ä'.repeat(sizeBytes / 2),
    }));

  it('is JSON with its length, as it was given', async () => {
    body = {
      text: 'ä\u2028"',
      list: [1, null],
      nested: { deep: { deeper: { deepest: {} } } },
      none: undefined,
      empty: {},
    };
    const { headers, body: answered } = await get('/one');
    expect(answered).to.deep.equal(JSON.parse(JSON.stringify(body)));
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(Number(headers.get('content-length'))).to.equal(Buffer.byteLength(JSON.stringify(body)));
  });

  it('that lists nothing is an empty list', async () => {
    body = { items: [] };
    expect((await get('/list')).body).to.deep.equal({ items: [] });
    body = { items: [], next_before: null };
    expect((await get('/paged')).body).to.deep.equal({ items: [], next_before: null });
  });

  it('shows all of a list that fits, and nothing besides', async () => {
    body = { items: items(7, MIB) };
    expect((await get('/list')).body).to.deep.equal(body);
  });

  it('shows of a larger list what fits in bytes, and says so', async () => {
    const all = items(1000, MIB);
    body = { items: all };
    const { status, headers, body: answered } = await get('/list');
    expect([status, answered.truncated]).to.deep.equal([200, true]);
    expect(answered.items).to.deep.equal(all.slice(0, answered.items.length));
    expect(answered.items).to.have.length(7);
    expect(Number(headers.get('content-length'))).to.be.at.most(LIST_BYTES + 1000);
  });

  it('that goes on by time goes on behind the last item shown, also where no more was known', async () => {
    body = { items: items(20, MIB), next_before: null };
    const { body: answered } = await get('/paged');
    expect(answered.truncated).to.equal(true);
    expect(answered.next_before).to.equal(answered.items.at(-1).created_at);
  });

  it('shows at least one item, whatever its size', async () => {
    body = { items: items(2, 10 * MIB) };
    expect((await get('/list')).body.items).to.have.length(1);
  });

  it('that cannot be written is an internal error in the envelope, with nothing of it sent', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    for (const [path, broken] of [
      ['/one', loop],
      ['/one', { number: 1n }],
      ['/list', { items: [{ fine: true }, loop] }],
    ] as const) {
      body = broken;
      const { status, body: answered } = await get(path);
      expect([status, answered.error.code]).to.deep.equal([500, 'internal']);
      expect(answered.error.details).to.have.property('request_id');
    }
  });

  it('writes a long array in many turns as well, wherever it stands', async () => {
    const text = 'x'.repeat(16_000);
    const body = {
      lines: Array.from({ length: 1000 }, (_, seq) => ({ seq, text })),
      odd: [undefined, null, [], [[]]],
      none: [],
    };
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    const bytes = await toJsonBytes(body);
    clearImmediate(timer);
    expect(bytes.toString()).to.equal(JSON.stringify(body));
    expect(turns).to.be.at.least(25);
  });

  it('that is large is written in many turns of the event loop, so that who asks for little waits for one', async () => {
    const column = Array.from({ length: 10_000 }, (_, index) => 1_700_000_000_000 + index);
    const names = Array.from({ length: 200 }, (_, index) => [`name ${index}`, { ts: column }]);
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    const bytes = await toJsonBytes({ run_id: 'x', series: Object.fromEntries(names) });
    clearImmediate(timer);
    expect(bytes.length).to.be.above(25 * MIB);
    expect(turns).to.be.at.least(90);
  });
});
