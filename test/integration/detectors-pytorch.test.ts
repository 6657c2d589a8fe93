import { readFileSync } from 'node:fs';
import path from 'node:path';
import { routes, type EventRecord } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { ROOT, startProgram } from '../support/program.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

const SDK = path.join(ROOT, 'sdk', 'python');
const SCRIPT = path.join(ROOT, 'test', 'fixtures', 'torch-trainings.py');
/** No threshold was chosen by any of these trainings. */
const FIRST_SEED = 101;
const SEEDS = 3;
const TRAININGS_PER_FALSE_WARNING = 30;

/** What goes wrong, and what must tell it. A training that is not here goes well. */
const TROUBLED: Readonly<Record<string, string>> = {
  too_high_rate: 'LOSS_NAN',
  learnt_by_heart: 'OVERFITTING_SUSPECTED',
  raised_rate: 'LOSS_SPIKE',
  broken_batch: 'LOSS_SPIKE',
};
const DETECTED = ['LOSS_NAN', 'LOSS_SPIKE', 'OVERFITTING_SUSPECTED', 'OOM', 'RUN_STALLED'];

interface Trained {
  readonly name: string;
  readonly events: readonly EventRecord[];
}

describe('detectors and real PyTorch trainings', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let trained: readonly Trained[];

  before(async function () {
    const python = requireEngine(this, 'torch');
    workplace = createWorkplace();
    server = await workplace.startServer();
    const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    const own = { SVC_URL: server.url, SVC_TOKEN: token, PYTHONPATH: SDK, SVC_QUIET: '1' };
    const env = { PATH: process.env['PATH'], HOME: workplace.dir, ...own };
    const { status, stdout, stderr } = await startProgram(
      python,
      [SCRIPT, String(FIRST_SEED), String(SEEDS)],
      env,
      workplace.dir,
    ).ended;
    expect(status, stderr).to.equal(0);
    await untilSeen();
    trained = await Promise.all(
      stdout
        .trim()
        .split('\n')
        .map(async (line) => {
          const [name = '', run_id = ''] = line.split(' ');
          return { name, events: await detectedIn(run_id) };
        }),
    );
  });
  after(() => workplace?.close());

  async function detectedIn(run_id: string): Promise<EventRecord[]> {
    const { items } = await server.client.call(routes.listEvents, { query: { run_id } });
    return items.filter(({ type }) => DETECTED.includes(type));
  }

  /** Detectors see what comes in order: once they tell of this run, they have seen the others. */
  async function untilSeen(): Promise<void> {
    const { id: run_id } = await server.client.call(routes.createRun, { body: { name: 'last' } });
    const points = [{ seq: 0, name: 'loss', step: 0, value: 'NaN' as const }];
    await server.client.call(routes.writePoints, { params: { run_id }, body: { points } });
    await until(async () => (await detectedIn(run_id)).length > 0);
  }

  it(`tell nothing critical of those that go well, and at most one warning in ${TRAININGS_PER_FALSE_WARNING}`, () => {
    const healthy = trained.filter(({ name }) => !(name in TROUBLED));
    expect(healthy).to.have.length(10 * SEEDS);
    const told = healthy.flatMap(({ name, events }) =>
      events.map(({ type, severity }) => `${name}: ${severity} ${type}`),
    );
    expect(told.filter((each) => each.includes('critical'))).to.deep.equal([]);
    expect(told.length, told.join('; ')).to.be.at.most(healthy.length / TRAININGS_PER_FALSE_WARNING);
  });

  for (const [name, type] of Object.entries(TROUBLED))
    it(`tell ${type} once of each that goes wrong: ${name}`, () => {
      const runs = trained.filter((run) => run.name === name);
      expect(runs).to.have.length(SEEDS);
      for (const { events } of runs) expect(events.filter((event) => event.type === type)).to.have.length(1);
    });
});
