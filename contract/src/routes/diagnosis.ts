import { Diagnosis } from '../records/diagnosis.js';
import { route } from '../route.js';

export const diagnoseRun = route({
  id: 'runs.diagnosis',
  method: 'GET',
  path: '/runs/{run_id}/diagnosis',
  scope: 'read',
  summary:
    'How the run goes: progress, convergence, anomalies, health, throughput, use of its GPUs and last errors, with evidence.',
  answers: { 200: Diagnosis },
});
