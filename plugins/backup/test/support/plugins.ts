import { auth } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runs } from '@svc/plugin-runs';
import { backup } from '../../src/index.js';

export const PLUGINS = [auth(), projects(), events(), nodes(), jobs(), logs(), runs(), backup()] as const;
