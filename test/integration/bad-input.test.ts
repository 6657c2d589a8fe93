import {
  ERRORS,
  JUST_QUEUED,
  MIB,
  SCOPES,
  newId,
  routes,
  type ErrorCode,
  type RouteSpec,
  type Scope,
} from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { toPath } from '@svc/client';
import { faultsOf, queryFaultsOf } from '../support/faults.js';
import { readState } from '../support/state.js';
import { createWorkplace, submit, type Server, type Workplace } from '../support/workplace.js';

/** Bodies that are taken, by route id. What they refer to is made in `before`. */
const VALID_BODIES: Readonly<Record<string, object>> = {
  'tokens.create': { name: 'n', scope: 'read' },
  'auth.redeemSignInLink': { code: 'no-such-code' },
  'projects.create': { name: 'fresh', description: 'd' },
  'projects.update': { name: 'renamed' },
  'experiments.create': { name: 'fresh', description: 'd' },
  'experiments.update': { name: 'renamed' },
  'jobs.submit': { command: ['true'], resources: { gpu: 1 }, env: { A: '1' }, node_selector: { rack: 'b' } },
  'runs.create': { name: 'n', tags: ['t'], config: {}, environment: {} },
  'runs.finish': { status: 'SUCCEEDED' },
  'runs.update': { tags: ['t'], config: {} },
  'metrics.batch': { points: [{ seq: 0, name: 'loss', step: 0, value: 1 }] },
  'metrics.query': { run_ids: ['unknown'], names: ['loss'] },
  'metricDefinitions.put': { direction: 'minimize', is_primary: true, unit: 's', description: 'd' },
  'metricDefinitions.update': { direction: 'minimize', unit: 's' },
  'metricDefinitions.define': { direction: 'minimize', is_primary: true, unit: 's', description: 'd' },
  'metricDefinitions.setPrimary': { name: 'train/loss' },
  'events.create': { title: 't', data: {} },
  'admin.gc': {
    dry_run: true,
    older_than_s: 86_400,
    project: 'p',
    states: ['FAILED'],
    keep_tag: 'keep',
  },
  'checkpoints.create': { path: '/out/checkpoint-1', step: 1, metadata: { note: 'n' } },
  'evaluations.create': { command: ['true'], suite: 's', dataset: 'd', dataset_version: '1' },
  'detectors.replay': { settings: { 'loss-spike': {} } },
};

const ALL: readonly RouteSpec[] = (Object.values(routes) as unknown[]).filter(isRoute);

function isRoute(value: unknown): value is RouteSpec {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    error: { code: ErrorCode; message: string; details: { errors?: { path: string; message: string }[] } };
  };
}

describe('bad input is refused, named, and changes nothing', function () {
  this.timeout(60_000);
  let workplace: Workplace;
  let server: Server;
  let state: unknown;
  /** Identifiers that exist, by path parameter. */
  let ids: Record<string, string>;
  const tokens = {} as Record<Scope | 'revoked', string>;

  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer({ env: { SVC_LOG_LEVEL: 'warn' } });
    const { client } = server;
    for (const name of [...SCOPES, 'revoked'] as const) {
      const scope = name === 'revoked' ? 'write' : name;
      const made = await client.call(routes.createToken, { body: { name, scope } });
      tokens[name] = made.token;
      if (name === 'revoked') await client.call(routes.revokeToken, { params: { token_id: made.id } });
    }
    const project = await client.call(routes.createProject, { body: { name: 'p' } });
    const experiment = await client.call(routes.createExperiment, {
      body: { name: 'e', project_id: project.id },
    });
    const run = await client.call(routes.createRun, { body: { name: 'r', experiment: experiment.id } });
    const { id: ckpt_id } = await client.call(routes.createCheckpoint, {
      params: { run_id: run.id },
      body: { path: '/out/checkpoint-0' },
    });
    const { id: eval_id } = await client.call(routes.createEvaluation, {
      params: { ckpt_id },
      body: { command: ['true'] },
    });
    const job = await submit(client, { command: ['true'] });
    // The next pass of the scheduler says why they wait.
    await until(async () => {
      const { items } = await client.call(routes.listJobs);
      return items.every(({ pending_reason }) => pending_reason !== JUST_QUEUED);
    });
    const [token] = (await client.call(routes.listTokens)).items;
    ids = {
      project_id: project.id,
      experiment_id: experiment.id,
      run_id: run.id,
      ckpt_id,
      eval_id,
      job_id: job.id,
      token_id: token?.id ?? '',
      node_id: newId('node'),
      name: 'train/loss',
      sha256: 'a'.repeat(64),
    };
  });
  after(() => workplace.close());

  beforeEach(async () => (state = await readState(server.client)));
  afterEach(async () => expect(await readState(server.client)).to.deep.equal(state));

  async function send(
    route: RouteSpec,
    options: { path?: string; search?: string; token?: string | null; body?: unknown; text?: string } = {},
  ): Promise<Answer> {
    const {
      path = toPath(route.path, ids),
      search = '',
      token = tokens.write,
      body = VALID_BODIES[route.id],
      text = JSON.stringify(body) as string | undefined,
    } = options;
    const response = await fetch(`${server.url}/api/v1${path}${search}`, {
      method: route.method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { 'content-type': route.upload ?? 'application/json' }),
      },
      body: text ?? null,
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    };
  }

  function expectError(
    { status, headers, body }: Answer,
    code: ErrorCode,
    label: string,
    path?: string,
  ): void {
    expect({ status, code: body.error.code }, `${label}: ${JSON.stringify(body)}`).to.deep.equal({
      status: ERRORS[code].status,
      code,
    });
    expect(body).to.have.all.keys('error');
    expect(body.error).to.have.all.keys('code', 'message', 'details');
    expect(body.error.message, label).to.be.a('string').and.not.equal('');
    expect(body.error.details, label).to.be.an('object');
    expect(headers.get('x-request-id'), label).to.match(/\S/);
    if (path === undefined) return;
    const errors = body.error.details.errors ?? [];
    const paths = errors.map((issue) => issue.path);
    expect(
      paths.some((named) => named === path || named.startsWith(`${path}[`)),
      `${label} names ${path}: ${JSON.stringify(errors)}`,
    ).to.equal(true);
    for (const { message } of errors) expect(message, label).to.not.equal('');
  }

  it('knows a body that is taken for every route that takes one', () => {
    const taking = ALL.filter(({ body }) => body !== undefined).map(({ id }) => id);
    expect(Object.keys(VALID_BODIES).sort()).to.deep.equal(taking.sort());
  });

  for (const route of ALL) {
    describe(`${route.method} ${route.path}`, () => {
      if (route.scope !== 'none') {
        it('no token, an unknown, malformed or revoked one: unauthorized', async () => {
          for (const token of [null, '', 'nonsense', `svc_write_${'0'.repeat(43)}`, tokens.revoked]) {
            expectError(await send(route, { token }), 'unauthorized', `token ${token}`);
          }
        });
      }

      const refused = SCOPES.filter((scope) => !isPermitted(scope, route));
      if (refused.length > 0) {
        it(`a token of scope ${refused.join(', ')}: forbidden`, async () => {
          for (const scope of refused)
            expectError(await send(route, { token: tokens[scope] }), 'forbidden', scope);
        });
      }

      const parameters = [...route.path.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
      for (const name of parameters.filter((parameter) => parameter.endsWith('_id'))) {
        it(`a malformed or unknown ${name}: not_found`, async () => {
          for (const id of malformedIds(ids[name] ?? '')) {
            const path = toPath(route.path, { ...ids, [name]: id });
            expectError(await send(route, { path }), 'not_found', id);
          }
        });
      }

      it('query parameters that are unknown, malformed or out of range: validation_error', async () => {
        for (const { label, path, value } of queryFaultsOf(route.query)) {
          expectError(
            await send(route, { search: `?${String(value)}` }),
            'validation_error',
            `${label} in ${path}`,
            path,
          );
        }
      });

      if (route.method === 'GET') return;

      it('a body that is no JSON, or no object: validation_error', async () => {
        for (const text of ['{', '{"a":}', 'nonsense', '"text"', '[]', '1', 'null', '{"a":1}{"b":2}']) {
          expectError(await send(route, { text }), 'validation_error', text);
        }
      });

      // http/test/upload.test.ts has it: nobody is to send 200 MiB for it here.
      if (route.upload) return;

      it('a body over the limit: payload_too_large', async () => {
        const text = `{"a":"${'x'.repeat(route.bodyLimitBytes ?? MIB)}"}`;
        expectError(await send(route, { text }), 'payload_too_large', 'too large');
      });

      const { body } = route;
      if (body === undefined) {
        it('any body at all: validation_error', async () => {
          expectError(await send(route, { body: { no_such_field: 1 } }), 'validation_error', 'extra');
        });
        return;
      }
      it('fields that are missing, wrong-typed, unknown, oversized or malformed: validation_error', async () => {
        const faults = faultsOf(body, VALID_BODIES[route.id]);
        expect(faults.length).to.be.greaterThan(5);
        for (const { label, path, value } of faults) {
          const answer = await send(route, { body: value });
          // Each of them is a miss at the sign-in door, which closes before all of them are through.
          if (route.id === routes.redeemSignInLink.id && answer.status === 429) break;
          expectError(answer, 'validation_error', `${label} in ${path || 'the body'}`, path);
        }
      });
    });
  }

  it('an unknown path: not_found; a method that the path does not have: method_not_allowed', async () => {
    const route = routes.listJobs;
    expectError(await send(route, { path: '/no-such-path' }), 'not_found', 'unknown path');
    for (const method of ['DELETE', 'PUT', 'PATCH'] as const) {
      const answer = await send({ ...route, method }, { body: undefined });
      expectError(answer, 'method_not_allowed', method);
      expect(answer.headers.get('allow')).to.contain('GET').and.contain('POST');
    }
  });

  const dangling: readonly (readonly [route: RouteSpec, body: object, field: string])[] = [
    [routes.submitJob, { command: ['true'], project: newId('project') }, 'project'],
    [routes.submitJob, { command: ['true'], experiment: newId('experiment') }, 'experiment'],
    [routes.createExperiment, { name: 'x', project_id: newId('project') }, 'project'],
    [routes.createRun, { project: newId('project') }, 'project'],
    [routes.createRun, { job_id: newId('job') }, 'job'],
    [routes.queryMetrics, { run_ids: [newId('run')] }, 'run'],
    [routes.setPrimaryMetric, { name: 'loss', project_id: newId('project') }, 'project'],
    [routes.setPrimaryMetric, { name: 'loss', experiment_id: newId('experiment') }, 'experiment'],
  ];
  for (const [route, body, field] of dangling) {
    it(`${route.id} with a ${field} that is not there: not_found, naming it`, async () => {
      const answer = await send(route, { body });
      expectError(answer, 'not_found', field);
      expect(answer.body.error.message).to.contain(field);
    });
  }

  it('what contradicts itself in a submit: validation_error', async () => {
    const contradictions: readonly (readonly [body: object, path: string])[] = [
      [{ command: ['true'], resources: { gpu: 1, cpu_only: true } }, 'resources'],
      [{ command: ['true'], runner: 'no-such-runner' }, 'runner'],
      [{ command: ['true'], working_dir: 'relative' }, 'working_dir'],
    ];
    for (const [body, path] of contradictions) {
      const answer = await send(routes.submitJob, { body });
      expectError(answer, 'validation_error', path);
      expect(JSON.stringify(answer.body.error.details)).to.contain(path);
    }
  });
});

function isPermitted(scope: Scope, { scope: needed }: RouteSpec): boolean {
  if (needed === 'none' || needed === 'any' || scope === 'write') return true;
  if (needed === 'read-or-agent') return scope !== 'sdk';
  return scope === (needed === 'ingest' ? 'sdk' : needed);
}

/** Of the right form but unknown, of another kind, cut, empty-looking, hostile. */
function malformedIds(id: string): string[] {
  const [prefix = ''] = id.split('_');
  const unknown = `${prefix}_${newId('job').slice('job_'.length)}`;
  return [
    unknown,
    `other_${id}`,
    id.slice(0, -1),
    `${id}0`,
    'nonsense',
    '%00',
    '..%2f..%2fetc',
    "'; drop table jobs; --",
    '💥',
  ];
}
