import type { Run } from '@svc/contract';
import type { Locator } from 'playwright-core';
import type { ApiTable } from './fake-api.js';
import { NOW, idOf } from './records.js';
import type { Stage } from './stage.js';

export const PROJECTS = [
  { id: idOf('prj', 1), name: 'vision', description: '', run_count: 3, created_at: NOW },
  { id: idOf('prj', 2), name: 'speech', description: '', run_count: 1, created_at: NOW },
];
export const EXPERIMENTS = [
  {
    id: idOf('exp', 1),
    name: 'lr',
    description: '',
    project_id: idOf('prj', 1),
    run_count: 2,
    created_at: NOW,
  },
  {
    id: idOf('exp', 2),
    name: 'noise',
    description: '',
    project_id: idOf('prj', 2),
    run_count: 1,
    created_at: NOW,
  },
];
export const PLACES: ApiTable = {
  'GET /projects': { items: PROJECTS },
  'GET /experiments': { items: EXPERIMENTS },
};

export function mountRunsPage(
  stage: Stage,
  items: readonly Run[],
  query = '',
  api: ApiTable = {},
): Promise<Locator> {
  return stage.mount('svc-runs-page', {
    properties: { query },
    address: `/runs?${query}`,
    api: { ...PLACES, 'GET /runs': { items }, ...api },
  });
}
