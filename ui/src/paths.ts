import { leaveGuard } from './leave-guard.js';

/** The console's own addresses. */
export const paths = {
  overview: (query: Record<string, string | null> = {}) => withQuery('/', query),
  jobs: (query: Record<string, string | null> = {}) => withQuery('/jobs', query),
  job: (id: string, query: Record<string, string | null> = {}) =>
    withQuery(`/jobs/${encodeURIComponent(id)}`, query),
  /** The form for a new job; `from`: like that one. */
  newJob: (query: { from?: string } = {}) => withQuery('/jobs/new', query),
  runs: (query: Record<string, string | null> = {}) => withQuery('/runs', query),
  run: (id: string, query: Record<string, string | null> = {}) =>
    withQuery(`/runs/${encodeURIComponent(id)}`, query),
  compare: (query: Record<string, string | null> = {}) => withQuery('/compare', query),
  projects: () => '/projects',
  project: (id: string) => `/projects/${encodeURIComponent(id)}`,
  experiment: (id: string) => `/experiments/${encodeURIComponent(id)}`,
  checkpoints: (query: Record<string, string | null> = {}) => withQuery('/checkpoints', query),
  checkpoint: (id: string) => `/checkpoints/${encodeURIComponent(id)}`,
  evaluations: (query: Record<string, string | null> = {}) => withQuery('/evaluations', query),
  nodes: (query: Record<string, string | null> = {}) => withQuery('/nodes', query),
  node: (id: string, query: Record<string, string | null> = {}) =>
    withQuery(`/nodes/${encodeURIComponent(id)}`, query),
  events: (query: Record<string, string | null> = {}) => withQuery('/events', query),
  tokens: (query: Record<string, string | null> = {}) => withQuery('/tokens', query),
  settings: (query: Record<string, string | null> = {}) => withQuery('/settings', query),
};

/** Where an event arose: its run, else its job, else its node, else among the events. */
export function originOf(event: {
  readonly run_id: string | null;
  readonly job_id: string | null;
  readonly node_id: string | null;
}): string {
  if (event.run_id !== null) return paths.run(event.run_id);
  if (event.job_id !== null) return paths.job(event.job_id);
  return event.node_id === null ? paths.events() : paths.node(event.node_id);
}

function withQuery(path: string, query: Record<string, string | null>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Goes to an address of the console; `replace` leaves no step back, as for each letter of a search. A page with unsaved work may keep the reader. */
export function navigate(path: string, options: { replace?: boolean } = {}): void {
  const isOtherPage = path.split('?')[0] !== window.location.pathname;
  if (!isOtherPage || !leaveGuard.isOn) return go(path, options);
  void leaveGuard.mayLeave().then((may) => may && go(path, options));
}

function go(path: string, { replace = false }: { replace?: boolean }): void {
  const isHere = path === window.location.pathname + window.location.search;
  if (replace || isHere) history.replaceState(history.state, '', path);
  else history.pushState(null, '', path);
  window.dispatchEvent(new Event('svc-navigate'));
}
