import { auth } from '@svc/plugin-auth';
import { checkpoints } from '@svc/plugin-checkpoints';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runs } from '@svc/plugin-runs';
import { retention } from '../../src/index.js';

export const PLUGINS = [
  auth(),
  projects(),
  events(),
  nodes(),
  jobs(),
  logs(),
  runs(),
  metricDefinitions(),
  metrics(),
  checkpoints(),
  retention(),
];
