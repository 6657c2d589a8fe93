import { html } from 'lit';
import { definePage, defineRunTab } from './registry.js';

/** The console's own pages, in the order of the navigation. */
export const PAGES = [
  definePage({
    name: 'jobs',
    title: 'Jobs',
    path: '/jobs',
    navigation: { label: 'Jobs', icon: 'jobs' },
    load: () => import('./svc-jobs-page.js'),
    render: ({ query }) => html`<svc-jobs-page .query=${query}></svc-jobs-page>`,
  }),
  definePage({
    name: 'job',
    title: 'Job',
    path: '/jobs/:id',
    under: 'jobs',
    load: () => import('./svc-job-page.js'),
    render: ({ params, query }) =>
      html`<svc-job-page .jobId=${params['id']!} .query=${query}></svc-job-page>`,
  }),
  definePage({
    name: 'new-job',
    title: 'Submit a job',
    path: '/jobs/new',
    under: 'jobs',
    load: () => import('./svc-new-job-page.js'),
    render: ({ query }) => html`<svc-new-job-page .from=${query.get('from') ?? ''}></svc-new-job-page>`,
  }),
  definePage({
    name: 'runs',
    title: 'Runs',
    path: '/runs',
    navigation: { label: 'Runs', icon: 'runs' },
    load: () => import('./svc-runs-page.js'),
    render: ({ query }) => html`<svc-runs-page .query=${query}></svc-runs-page>`,
  }),
  definePage({
    name: 'run',
    title: 'Run',
    path: '/runs/:id',
    under: 'runs',
    load: () => import('./svc-run-page.js'),
    render: ({ params, query }) =>
      html`<svc-run-page .runId=${params['id']!} .tab=${query.get('tab') ?? ''}></svc-run-page>`,
  }),
  definePage({
    name: 'nodes',
    title: 'Nodes',
    path: '/nodes',
    navigation: { label: 'Nodes', icon: 'nodes' },
    load: () => import('./svc-nodes-page.js'),
    render: () => html`<svc-nodes-page></svc-nodes-page>`,
  }),
  definePage({
    name: 'events',
    title: 'Events',
    path: '/events',
    navigation: { label: 'Events', icon: 'events' },
    load: () => import('./svc-events-page.js'),
    render: ({ query }) => html`<svc-events-page .query=${query}></svc-events-page>`,
  }),
];

/** The console's own tabs of a run. The first one is shown when the address names none. */
export const RUN_TABS = [
  defineRunTab({
    name: 'overview',
    label: 'Overview',
    load: () => import('../components/svc-run-overview.js'),
    render: ({ run, summary }) => html`<svc-run-overview .run=${run} .summary=${summary}></svc-run-overview>`,
  }),
];
