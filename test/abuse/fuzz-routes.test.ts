import { SCOPES, newId, routes, type RouteSpec } from '@svc/contract';
import { expect } from 'chai';
import fc from 'fast-check';
import { toPath } from '@svc/client';
import { ALL_ROUTES } from './contract-routes.js';
import { SEED } from './fuzz-seed.js';
import { openLab, type Lab } from './lab.js';
import { ODD_VALUES, mutate, mutations, type Mutation } from './mutate.js';
import { valuesOf, type Known } from './schema-arbitrary.js';
import { faultOf, type Sent } from './send.js';

const CASES = 10_000;
const AT_ONCE = 20;

interface Case {
  readonly route: RouteSpec;
  readonly path: string;
  readonly token: string | null;
  readonly query: object;
  readonly body: unknown;
  readonly mutations: readonly Mutation[];
}

describe('10 000 random requests', function () {
  this.timeout(300_000);
  let lab: Lab;
  before(async () => (lab = await openLab()));
  after(() => lab.close());

  it(`break nothing (seed ${SEED})`, async () => {
    const batches = fc.array(caseOf(lab), { minLength: AT_ONCE, maxLength: AT_ONCE });
    const longest = { waitMs: 0, answered: {} as Record<number, number> };
    const property = fc.asyncProperty(batches, async (cases) => {
      const send = () => Promise.all(cases.map((each) => sendCase(lab, each)));
      let measured = await lab.probe.beside(send);
      if (measured.longestWaitMs > lab.probe.budgetMs) measured = await lab.probe.beside(send);
      expect(measured.answers).to.have.all.keys('200');
      expect(measured.longestWaitMs, 'the longest wait of /health in ms').to.be.at.most(lab.probe.budgetMs);
      longest.waitMs = Math.max(longest.waitMs, measured.longestWaitMs);
      for (const status of measured.result) longest.answered[status] = (longest.answered[status] ?? 0) + 1;
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: CASES / AT_ONCE,
      // What failed is told by the message; to look for less of it would take thousands of requests more.
      endOnFailure: true,
      includeErrorInReport: true,
      interruptAfterTimeLimit: 240_000,
      markInterruptAsFailure: true,
    });
    // It is no test of refusals alone.
    expect(longest.answered[200], JSON.stringify(longest)).to.be.greaterThan(CASES / 100);
    const job = await lab.server.client.call(routes.getJob, { params: { job_id: lab.ids['job_id']! } });
    expect(job.command).to.deep.equal(['true']);
  });
});

async function sendCase(
  { sender }: Lab,
  { route, path, token, query, body, mutations: all }: Case,
): Promise<number> {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const search = new URLSearchParams(pairs).toString();
  const mutated = body === undefined ? undefined : JSON.stringify(mutate(body, all));
  const sent: Sent = { method: route.method, path: `/api/v1${path}?${search}`, token, body: mutated };
  const answer = await sender.send(sent);
  expect(faultOf(answer), `${route.method} ${sent.path.slice(0, 2000)} ${mutated?.slice(0, 2000)}`).to.equal(
    null,
  );
  return answer.status;
}

/** Any route with a body or a query, mostly with what exists and a token that may. */
function caseOf({ ids, tokens }: Lab): fc.Arbitrary<Case> {
  const known: Known = {
    ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, [id]])),
    run_ids: [[ids['run_id']], [newId('run')]],
    project: ['p'],
    experiment: ['e'],
    names: [['loss'], 'loss', 'loss,b'],
    runner: ['process'],
    resources: [{ cpu_only: true }, { gpu: 1000 }],
    older_than_s: [86_400],
    limit: [1, 1000],
  };
  const idOf = (name: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constant(ids[name] ?? 'x') },
      fc.constantFrom(
        ...Object.values(ids),
        newId('run'),
        newId('job'),
        '__proto__',
        'x'.repeat(2000),
        '\u0000',
        '💥',
      ),
    );
  const token = fc.oneof(
    { weight: 9, arbitrary: fc.constant(tokens.write) },
    fc.constantFrom(null, 'x', ...SCOPES.map((scope) => tokens[scope])),
  );
  const ofRoute = (route: RouteSpec): fc.Arbitrary<Case> => {
    const names = [...route.path.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
    const params = fc.record(Object.fromEntries(names.map((name) => [name, idOf(name)])), {
      noNullPrototype: true,
    });
    return fc.record({
      route: fc.constant(route),
      path: params.map((given) => toPath(route.path, given as Record<string, string>)),
      token,
      query: fc
        .tuple(valuesOf(route.query ?? { type: 'object' }, known), mutations(ODD_QUERY))
        .map(([query, all]) => asObject(mutate(query, all))),
      body: route.body ? valuesOf(route.body, known) : fc.constant(undefined),
      mutations: mutations(),
    });
  };
  return fc.oneof(...ALL_ROUTES.filter(({ body, query }) => body ?? query).map(ofRoute));
}

/** What fits into a request's first line. */
const ODD_QUERY = ODD_VALUES.filter((value) => typeof value !== 'object' && String(value).length < 1000);

const asObject = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : { value };
