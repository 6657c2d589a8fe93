import { Diagnosis, routes } from '@svc/contract';
import { defineTool } from './tool.js';

const { next_actions: _of, ...Fields } = Diagnosis.properties;

export const diagnoseRun = defineTool(
  {
    name: 'diagnose_run',
    title: 'Diagnose a run',
    description:
      'How a run goes: progress and time left, convergence of its primary metric, anomalies with evidence, health, throughput, use of its GPUs, and its last errors.',
    group: 'semantic',
    output: Fields,
  },
  async ({ client, signal }, { run_id }) => {
    const { next_actions, ...body } = await client.call(routes.diagnoseRun, { params: { run_id }, signal });
    return { body, next_actions };
  },
);
