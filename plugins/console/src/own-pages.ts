/** The names and paths of the console's own pages, and the names of its run tabs: no plugin can take them. A test holds them against `ui/src/pages/pages.ts`. */
export const OWN_PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  jobs: '/jobs',
  job: '/jobs/:id',
  'new-job': '/jobs/new',
  runs: '/runs',
  run: '/runs/:id',
  compare: '/compare',
  projects: '/projects',
  project: '/projects/:id',
  experiment: '/experiments/:id',
  checkpoints: '/checkpoints',
  checkpoint: '/checkpoints/:id',
  evaluations: '/evaluations',
  nodes: '/nodes',
  node: '/nodes/:id',
  events: '/events',
  settings: '/settings',
  tokens: '/tokens',
};

export const OWN_RUN_TABS: readonly string[] =
  'charts overview config environment code checkpoints evaluations events diagnosis'.split(' ');
