import { newId, routes, type RouteSpec } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { diagnosis } from '@svc/plugin-diagnosis';
import { evaluations } from '@svc/plugin-evaluations';
import { failures } from '@svc/plugin-failures';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { metricsExport } from '@svc/plugin-metrics-export';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { push } from '@svc/plugin-push';
import { ranking } from '@svc/plugin-ranking';
import { retention } from '@svc/plugin-retention';
import { service } from '@svc/plugin-service';
import { spool } from '@svc/plugin-spool';
import { expect } from 'chai';
import { toPath } from '@svc/client';
import { Rig } from '../../plugins/runs/test/support/rig.js';

const NUMERALS = [
  '007',
  '-007',
  '00',
  '1e3',
  '1E3',
  '1e400',
  '0x10',
  '0b1',
  '0o7',
  '+5',
  '-0',
  '1.0',
  '.5',
  '5.',
  '-1',
  ' 5',
  '5 ',
  '1_000',
  '1,000',
  'Infinity',
  '-Infinity',
  'NaN',
  '',
  ' ',
  '٣',
  '５',
  '1n',
  'null',
  'true',
  '2147483648',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999',
  '1'.repeat(400),
  '5\u0000',
  '\ud800',
  '[5]',
  '"5"',
];
const NUL = 'a\u0000b';
const HALF = 'a\ud800b';

const ALL = (Object.values(routes) as unknown[]).filter(
  (value): value is RouteSpec => typeof value === 'object' && value !== null && 'method' in value,
);
const plugins = [
  metrics,
  checkpoints,
  logs,
  spool,
  metricsExport,
  nodeMetrics,
  evaluations,
  ranking,
  failures,
  diagnosis,
  push,
  retention,
  service,
];

eachDatabase((database) => {
  describe('odd input', () => {
    let rig: Rig;
    /** Identifiers that exist, by parameter. */
    let ids: Record<string, string>;
    before(async () => {
      rig = await Rig.start({ database, plugins: plugins.map((plugin) => plugin()) });
      const { nodeId } = await rig.agent();
      const run = await rig.createRun({ experiment: 'e' });
      const path = `/runs/${run.id}/checkpoints`;
      const { id: ckpt_id } = (await rig.post(path, { path: '/out/checkpoint-1', step: 1 })).body as {
        id: string;
      };
      await rig.kernel.request('PUT', '/metric-definitions/loss', {
        token: rig.tokens.write,
        body: { direction: 'minimize', is_primary: true },
      });
      await rig.post(`/runs/${run.id}/metrics:batch`, {
        points: [{ seq: 9, name: 'loss', step: 1, value: 1 }],
      });
      const { id: job_id } = await rig.submit();
      const { project_id, experiment_id } = run;
      ids = { run_id: run.id, ckpt_id, job_id, node_id: nodeId, project_id, experiment_id, name: 'loss' };
    });
    after(() => rig.close());

    /** Answers the status alone: a stream that opens is cut. */
    async function ask(
      { method, path }: RouteSpec,
      search: string,
      body?: unknown,
    ): Promise<{ status: number; text: string }> {
      const cut = new AbortController();
      const { status, headers, ...answer } = await fetchFrom(path, search, method, body, cut.signal);
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      const text = isStream ? '' : await answer.text();
      cut.abort();
      return { status, text };
    }

    async function fetchFrom(
      path: string,
      search: string,
      method: string,
      body: unknown,
      signal: AbortSignal,
    ) {
      const answer = await fetch(`${rig.kernel.url}/api/v1${toPath(path, ids)}?${search}`, {
        method,
        signal,
        headers: { authorization: `Bearer ${rig.tokens.write}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, headers: answer.headers, text: () => answer.text() };
    }

    for (const route of ALL) {
      const numeric = Object.entries(route.query?.properties ?? {}).filter(([, schema]) =>
        ['integer', 'number'].includes((schema as { type?: string }).type ?? ''),
      );
      for (const [name] of numeric) {
        it(`${route.id}: every odd numeral for ${name} is taken or refused`, async () => {
          for (const numeral of NUMERALS) {
            for (const search of [`${name}=${toQuery(numeral)}`, `${name}=1&${name}=${toQuery(numeral)}`]) {
              const { status, text } = await ask(route, search);
              expect([200, 404, 422], `${search}: ${text}`).to.include(status);
            }
          }
          for (const numeral of ['007', '0x10', '+5', 'NaN', '', ' 5']) {
            const { status, text } = await ask(route, `${name}=${toQuery(numeral)}`);
            expect(status, `${numeral}: ${text}`).to.equal(422);
          }
        });
      }
    }

    const texts: readonly (readonly [route: RouteSpec, path: string, body: (text: string) => object])[] = [
      [routes.createRun, 'tags[0]', (text) => ({ tags: [text] })],
      [routes.createRun, 'name', (text) => ({ name: text })],
      [routes.updateRun, 'tags[1]', (text) => ({ tags: ['a', text] })],
      [routes.updateRun, 'notes', (text) => ({ notes: text })],
      [routes.submitJob, 'command[0]', (text) => ({ command: [text] })],
      [routes.submitJob, 'env.A', (text) => ({ command: ['x'], env: { A: text } })],
      [routes.submitJob, `env.${NUL}`, () => ({ command: ['x'], env: { [NUL]: 'b' } })],
      [routes.submitJob, 'image', (text) => ({ command: ['x'], image: text })],
      [routes.submitJob, 'node_selector.a', (text) => ({ command: ['x'], node_selector: { a: text } })],
      [routes.submitJob, `node_selector.${HALF}`, () => ({ command: ['x'], node_selector: { [HALF]: 'b' } })],
      [routes.createProject, 'description', (text) => ({ name: 'p', description: text })],
      [routes.createEvent, 'title', (text) => ({ title: text })],
      [routes.createCheckpoint, 'path', (text) => ({ path: `/${text}` })],
      [routes.createToken, 'name', (text) => ({ name: text, scope: 'read' })],
      [routes.putMetricDefinition, 'unit', (text) => ({ unit: text })],
    ];
    for (const [route, path, body] of texts) {
      it(`${route.id}: ${JSON.stringify(path)} without NUL and without half a character`, async () => {
        for (const text of [NUL, HALF]) {
          const { status, text: answer } = await ask(route, '', body(text));
          expect(status, answer).to.equal(422);
          const [first] = (JSON.parse(answer) as { error: { details: { errors: { path: string }[] } } }).error
            .details.errors;
          expect(first?.path).to.equal(path);
        }
      });
    }

    it('a metric name without NUL and without half a character', async () => {
      for (const name of [NUL, HALF]) {
        const body = { points: [{ seq: 0, name, step: 0, value: 1 }] };
        expect((await ask(routes.writePoints, '', body)).status).to.equal(422);
      }
    });

    it('what is any JSON object keeps NUL and half a character, in keys too', async () => {
      const config = { [NUL]: NUL, [HALF]: [HALF], long: NUL.repeat(3000) };
      const run = await rig.createRun({ config });
      expect((await rig.get(`/runs/${run.id}`)).body.config).to.deep.equal(config);
    });

    const ofNobody: Readonly<Record<string, string>> = {
      project_id: newId('project'),
      experiment_id: newId('experiment'),
      job_id: newId('job'),
      run_id: newId('run'),
      node_id: newId('node'),
    };
    for (const route of ALL) {
      const references = Object.keys(route.query?.properties ?? {}).filter((name) => name in ofNobody);
      for (const name of references) {
        it(`${route.id}: a ${name} that is unknown or malformed is not found, and named`, async () => {
          for (const id of [ofNobody[name] as string, 'nonsense', newId('token')]) {
            const { status, text } = await ask(route, `${name}=${id}`);
            expect(status, text).to.equal(404);
            expect(text).to.contain(id);
          }
          expect((await ask(route, `${name}=${ids[name]}`)).status).to.equal(200);
        });
      }
    }
  });
});

/** Of half a character a URL has no form: the bytes that would be it. */
function toQuery(text: string): string {
  return text === '\ud800' ? '%ed%a0%80' : encodeURIComponent(text);
}
