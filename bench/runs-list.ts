/**
 * Lists of runs: what the server needs for one, of so many runs that each have a config, packages, a diff and metrics, and how long
 * `/health` waits meanwhile. Usage: npm run bench -- runs-list [--runs 10000] [--metrics 20] [--rounds 30] [--database postgres://...]
 */
import { routes } from '@svc/contract';
import { parseArgs } from 'node:util';
import { createWorkplace } from '../test/support/workplace.js';
import { measure, printTable, summarise } from './support/report.js';
import { watchHealth } from './support/watch-health.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    metrics: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '30' },
    database: { type: 'string' },
  },
});
const STEPS = 10;
const PARALLEL = 8;
const PLACES = 10;
const runCount = Number(values.runs);
const metricCount = Number(values.metrics);
const packages = Array.from({ length: 150 }, (_, index) => `some-package-${index}==1.2.${index}`);
const diff = '+    loss = criterion(model(batch), target)  # changed\n'.repeat(400);

const workplace = createWorkplace();
try {
  const env = values.database === undefined ? {} : { SVC_DATABASE_URL: values.database };
  const { client } = await workplace.startServer({ env });
  let next = 0;
  const createRuns = async (): Promise<void> => {
    for (let index = next++; index < runCount; index = next++) {
      const { id } = await client.call(routes.createRun, { body: toRun(index) });
      if (metricCount > 0)
        await client.call(routes.writePoints, { params: { run_id: id }, body: { points: toPoints(index) } });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, createRuns));
  const { items: projects } = await client.call(routes.listProjects, { query: {} });
  const { items: experiments } = await client.call(routes.listExperiments, { query: {} });
  const [project_id = '', experiment_id = ''] = [projects[0]?.id, experiments[0]?.id];
  const queries: [string, object][] = [
    ['the newest 100', {}],
    ['the newest 1000', { limit: 1000 }],
    ['of a project, 100', { project_id }],
    ['of an experiment, with a status that none has', { experiment_id, status: 'FAILED' }],
    ['of a project, RUNNING, 1000', { project_id, status: 'RUNNING', limit: 1000 }],
    ['two words of the name, 100', { q: 'resnet lr=0.5' }],
    ['a word that no name holds', { q: 'nowhere' }],
    ['two tags, 100', { tags: 'base,sweep-3' }],
    ['project, status, word and tag', { project_id, status: 'RUNNING', q: 'resnet', tags: 'base' }],
    ['the newest 200, and how many there are', { limit: 200, total: true }],
    ['a word, 200, and how many have it', { q: 'resnet', limit: 200, total: true }],
    ['the end of an id', { q: '9Q7E2N' }],
    ...[
      'created',
      'name',
      '-duration',
      'config:lr',
      'last:metric-2/acc',
      'best:loss-3',
      '-best:metric-8/acc',
    ].map((sort): [string, object] => [`200 sorted by ${sort}`, { sort, limit: 200 }]),
    ['200 of a project, sorted by best:loss-3', { project_id, sort: 'best:loss-3', limit: 200 }],
  ];
  const rows: string[][] = [];
  for (const [what, query] of queries) {
    const health = watchHealth(() => client.call(routes.getHealth, {}));
    const times = await measure(Number(values.rounds), () => client.call(routes.listRuns, { query }));
    rows.push([what, ...summarise(times), Math.max(...(await health.stop())).toFixed(1)]);
  }
  printTable([[`list of ${runCount} runs, ms`, 'median', 'p99', 'longest /health'], ...rows]);
} finally {
  await workplace.close();
}

function toRun(index: number) {
  return {
    name: `resnet-50 lr=${(index % 10) / 10} #${index}`,
    project: `project ${index % PLACES}`,
    experiment: `experiment ${index % (PLACES * PLACES)}`,
    config: {
      lr: (index % 10) / 10,
      batch_size: 256,
      optimizer: 'adamw',
      weight_decay: 0.05,
      seed: index,
      layers: [3, 4, 6, 3],
    },
    environment: {
      python: '3.12.3',
      hostname: 'node-7',
      packages,
      git: { commit: 'c'.repeat(40), dirty: true, diff },
    },
    tags: ['base', `sweep-${index % 7}`],
  };
}

function toPoints(index: number) {
  const names = Array.from({ length: metricCount }, (_, at) => (at % 2 ? `loss-${at}` : `metric-${at}/acc`));
  return names.flatMap((name, at) =>
    Array.from({ length: STEPS }, (_, step) => ({
      seq: at * STEPS + step,
      name,
      step,
      value: Math.abs(Math.sin(index * 7 + at + step)),
    })),
  );
}
