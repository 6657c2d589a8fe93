import { expect } from 'chai';
import { Refusal, type ApiTable } from './harness/fake-api.js';
import { definition, event, experiment, idOf, job, node, project, run } from './harness/records.js';
import { useStage } from './harness/stage.js';

const MISSING = new Refusal(404, 'not_found', 'there is none');
/** Longer than any page waits before it asks again. */
const LONG_MS = 130_000;

const RECORDS = {
  node: {
    properties: { nodeId: idOf('node', 1) },
    api: {
      'GET /nodes/{node_id}': node(1),
      'GET /nodes/{node_id}/metrics': { node_id: idOf('node', 1), series: {} },
      'GET /nodes/{node_id}/snapshot': {
        node_id: idOf('node', 1),
        ts: null,
        metrics: {},
        processes: [],
        host_processes: [],
      },
      'GET /jobs': { items: [job(1)], next_before: null },
    },
  },
  project: {
    properties: { projectId: idOf('prj', 1) },
    api: {
      'GET /projects/{project_id}': project(1),
      'GET /experiments': { items: [] },
      'GET /runs': { items: [] },
    },
  },
  experiment: {
    properties: { experimentId: idOf('exp', 1) },
    api: {
      'GET /experiments/{experiment_id}': experiment(1),
      'GET /projects/{project_id}': project(1),
      'GET /experiments/{experiment_id}/runs': { items: [run(1)] },
      'GET /experiments/{experiment_id}/best-checkpoint': MISSING,
      'GET /metric-definitions': { items: [definition('val/loss', { is_primary: true })] },
    },
  },
} satisfies Record<string, { properties: object; api: ApiTable }>;

describe('the page of a record that is not there', () => {
  const stage = useStage();
  before(() => stage.page.clock.install());
  const wait = async () => {
    for (let ms = 0; ms < LONG_MS; ms += 5_000) await stage.page.clock.runFor(5_000);
  };
  const notice = () => stage.page.locator('svc-notice, [role=alert]');

  for (const [noun, { properties, api }] of Object.entries(RECORDS)) {
    const missing = Object.fromEntries(Object.keys(api).map((route) => [route, MISSING]));
    const mount = (table: ApiTable) => stage.mount(`svc-${noun}-page`, { properties, api: table });
    const name = `${noun[0]!.toUpperCase()}${noun.slice(1)}`;

    it(`of a ${noun} says so once, and asks for nothing again`, async () => {
      const page = await mount(missing);
      await page.getByRole('heading', { name: `${name} not found` }).waitFor();
      await wait();
      const asked = [...stage.api.requests];
      await wait();
      expect(stage.api.requests).to.deep.equal(asked);
      expect(new Set(asked)).to.have.lengthOf(asked.length);
      expect(await notice().count()).to.equal(1);
    });

    it(`of a ${noun} that was deleted meanwhile asks for nothing again, whatever else happens`, async () => {
      const page = await mount(api);
      await page.getByRole('heading', { level: 1, name: `${noun}-1` }).waitFor();
      stage.api.change(missing);
      await wait();
      await page.getByRole('heading', { name: `This ${noun} was deleted` }).waitFor();
      await wait();
      const asked = stage.api.requests.length;
      await stage.push('/events/stream', [event(1, { run_id: idOf('run', 9), node_id: idOf('node', 9) })]);
      await wait();
      expect(stage.api.requests.slice(asked)).to.deep.equal([]);
      expect(await notice().count()).to.equal(1);
    });
  }

  it('asks again while the record is there', async () => {
    const { properties, api } = RECORDS.node;
    await stage.mount('svc-node-page', { properties, api });
    await stage.page.getByRole('heading', { level: 1, name: 'node-1' }).waitFor();
    const asked = stage.api.requests.length;
    await wait();
    expect(stage.api.requests.length).to.be.greaterThan(asked);
  });
});
