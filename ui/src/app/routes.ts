import { html, type TemplateResult } from 'lit';

export type Section = 'jobs' | 'runs' | 'nodes' | 'events';

export interface Route {
  section: Section;
  title: string;
  /** Loads the page's code, which is no part of the first download. */
  load(): Promise<unknown>;
  render(id: string, query: URLSearchParams): TemplateResult;
}

interface Pattern extends Route {
  path: RegExp;
}

const ROUTES: readonly Pattern[] = [
  {
    path: /^\/jobs\/?$/,
    section: 'jobs',
    title: 'Jobs',
    load: () => import('../pages/svc-jobs-page.js'),
    render: (_, query) => html`<svc-jobs-page .query=${query}></svc-jobs-page>`,
  },
  {
    path: /^\/jobs\/([^/]+)\/?$/,
    section: 'jobs',
    title: 'Job',
    load: () => import('../pages/svc-job-page.js'),
    render: (id) => html`<svc-job-page .jobId=${id}></svc-job-page>`,
  },
  {
    path: /^\/runs\/?$/,
    section: 'runs',
    title: 'Runs',
    load: () => import('../pages/svc-runs-page.js'),
    render: (_, query) => html`<svc-runs-page .query=${query}></svc-runs-page>`,
  },
  {
    path: /^\/runs\/([^/]+)\/?$/,
    section: 'runs',
    title: 'Run',
    load: () => import('../pages/svc-run-page.js'),
    render: (id) => html`<svc-run-page .runId=${id}></svc-run-page>`,
  },
  {
    path: /^\/nodes\/?$/,
    section: 'nodes',
    title: 'Nodes',
    load: () => import('../pages/svc-nodes-page.js'),
    render: () => html`<svc-nodes-page></svc-nodes-page>`,
  },
  {
    path: /^\/events\/?$/,
    section: 'events',
    title: 'Events',
    load: () => import('../pages/svc-events-page.js'),
    render: (_, query) => html`<svc-events-page .query=${query}></svc-events-page>`,
  },
];

/** The route of a path with the identifier in it, or null when there is no such page. */
export function matchRoute(path: string): { route: Route; id: string } | null {
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match) return { route, id: decodeId(match[1] ?? '') };
  }
  return null;
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
