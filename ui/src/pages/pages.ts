import { html } from 'lit';
import { definePage, defineRunTab } from './registry.js';

/** The console's own pages, in the order of the navigation. */
export const PAGES = [
  definePage({
    name: 'overview',
    title: 'Overview',
    path: '/',
    navigation: { label: 'Overview', icon: 'overview' },
    load: () => import('./svc-overview-page.js'),
    render: ({ query }) => html`<svc-overview-page .query=${query}></svc-overview-page>`,
  }),
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
    load: () => {
      loadRunTab();
      return import('./svc-run-page.js');
    },
    render: ({ params, query }) =>
      html`<svc-run-page .runId=${params['id']!} .query=${query}></svc-run-page>`,
  }),
  definePage({
    name: 'compare',
    title: 'Compare',
    path: '/compare',
    navigation: { label: 'Compare', icon: 'compare' },
    load: () => import('./svc-compare-page.js'),
    render: () => html`<svc-compare-page></svc-compare-page>`,
  }),
  definePage({
    name: 'projects',
    title: 'Projects',
    path: '/projects',
    navigation: { label: 'Projects', icon: 'projects' },
    load: () => import('./svc-projects-page.js'),
    render: () => html`<svc-projects-page></svc-projects-page>`,
  }),
  definePage({
    name: 'project',
    title: 'Project',
    path: '/projects/:id',
    under: 'projects',
    load: () => import('./svc-project-page.js'),
    render: ({ params }) => html`<svc-project-page .projectId=${params['id']!}></svc-project-page>`,
  }),
  definePage({
    name: 'experiment',
    title: 'Experiment',
    path: '/experiments/:id',
    under: 'projects',
    load: () => import('./svc-experiment-page.js'),
    render: ({ params }) => html`<svc-experiment-page .experimentId=${params['id']!}></svc-experiment-page>`,
  }),
  definePage({
    name: 'checkpoints',
    title: 'Checkpoints',
    path: '/checkpoints',
    navigation: { label: 'Checkpoints', icon: 'checkpoints' },
    load: () => import('./svc-checkpoints-page.js'),
    render: ({ query }) => html`<svc-checkpoints-page .query=${query}></svc-checkpoints-page>`,
  }),
  definePage({
    name: 'checkpoint',
    title: 'Checkpoint',
    path: '/checkpoints/:id',
    under: 'checkpoints',
    load: () => import('./svc-checkpoint-page.js'),
    render: ({ params }) => html`<svc-checkpoint-page .checkpointId=${params['id']!}></svc-checkpoint-page>`,
  }),
  definePage({
    name: 'evaluations',
    title: 'Evaluations',
    path: '/evaluations',
    under: 'checkpoints',
    load: () => import('./svc-evaluations-page.js'),
    render: ({ query }) => html`<svc-evaluations-page .query=${query}></svc-evaluations-page>`,
  }),
  definePage({
    name: 'nodes',
    title: 'Nodes',
    path: '/nodes',
    navigation: { label: 'Nodes', icon: 'nodes' },
    load: () => import('./svc-nodes-page.js'),
    render: ({ query }) => html`<svc-nodes-page .query=${query}></svc-nodes-page>`,
  }),
  definePage({
    name: 'node',
    title: 'Node',
    path: '/nodes/:id',
    under: 'nodes',
    load: () => import('./svc-node-page.js'),
    render: ({ params, query }) =>
      html`<svc-node-page .nodeId=${params['id']!} .query=${query}></svc-node-page>`,
  }),
  definePage({
    name: 'events',
    title: 'Events',
    path: '/events',
    navigation: { label: 'Events', icon: 'events' },
    load: () => import('./svc-events-page.js'),
    render: ({ query }) => html`<svc-events-page .query=${query}></svc-events-page>`,
  }),
  definePage({
    name: 'settings',
    title: 'Settings',
    path: '/settings',
    navigation: { label: 'Settings', icon: 'settings', isLast: true },
    load: () => import('./svc-settings-page.js'),
    render: ({ query }) => html`<svc-settings-page .query=${query}></svc-settings-page>`,
  }),
  definePage({
    name: 'tokens',
    title: 'Tokens',
    path: '/tokens',
    navigation: { label: 'Tokens', icon: 'tokens', isLast: true, needsWrite: true },
    load: () => import('./svc-tokens-page.js'),
    render: ({ query }) => html`<svc-tokens-page .query=${query}></svc-tokens-page>`,
  }),
];

/** The console's own tabs of a run. The first one is shown when the address names none. */
export const RUN_TABS = [
  defineRunTab({
    name: 'charts',
    label: 'Charts',
    load: () => import('../components/svc-run-charts-tab.js'),
    render: ({ run, summary }) =>
      html`<svc-run-charts-tab .run=${run} .summary=${summary}></svc-run-charts-tab>`,
  }),
  defineRunTab({
    name: 'overview',
    label: 'Overview',
    load: () => import('../components/svc-run-overview.js'),
    render: ({ run, summary }) => html`<svc-run-overview .run=${run} .summary=${summary}></svc-run-overview>`,
  }),
  defineRunTab({
    name: 'config',
    label: 'Config',
    load: () => import('../components/svc-run-record.js'),
    render: ({ run }) => html`<svc-run-record shown="config" .run=${run}></svc-run-record>`,
  }),
  defineRunTab({
    name: 'environment',
    label: 'Environment',
    load: () => import('../components/svc-run-record.js'),
    render: ({ run }) => html`<svc-run-record shown="environment" .run=${run}></svc-run-record>`,
  }),
  defineRunTab({
    name: 'code',
    label: 'Code',
    load: () => import('../components/svc-run-code.js'),
    render: ({ run }) => html`<svc-run-code .run=${run}></svc-run-code>`,
  }),
  defineRunTab({
    name: 'checkpoints',
    label: 'Checkpoints',
    load: () => import('../components/svc-run-checkpoints.js'),
    render: ({ run }) => html`<svc-run-checkpoints .run=${run}></svc-run-checkpoints>`,
  }),
  defineRunTab({
    name: 'evaluations',
    label: 'Evaluations',
    load: () => import('../components/svc-run-evaluations.js'),
    render: ({ run }) => html`<svc-run-evaluations .run=${run}></svc-run-evaluations>`,
  }),
  defineRunTab({
    name: 'events',
    label: 'Events',
    load: () => import('../components/svc-run-events.js'),
    render: ({ run }) => html`<svc-run-events .run=${run}></svc-run-events>`,
  }),
  defineRunTab({
    name: 'diagnosis',
    label: 'Diagnosis',
    load: () => import('../components/svc-run-diagnosis.js'),
    render: ({ run }) => html`<svc-run-diagnosis .run=${run}></svc-run-diagnosis>`,
  }),
];

/** With the page, not after it: the code of the tab that the address asks for. A failure is met by the page, which loads it too. */
function loadRunTab(): void {
  const wanted = new URLSearchParams(window.location.search).get('tab');
  const tab = RUN_TABS.find(({ name }) => name === wanted) ?? RUN_TABS[0]!;
  tab.load().catch(() => undefined);
}
