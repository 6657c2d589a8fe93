/** The console's own addresses. */
export const paths = {
  overview: (query: Record<string, string | null> = {}) => withQuery('/', query),
  jobs: (query: Record<string, string | null> = {}) => withQuery('/jobs', query),
  job: (id: string) => `/jobs/${encodeURIComponent(id)}`,
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
};

function withQuery(path: string, query: Record<string, string | null>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Goes to an address of the console; `replace` leaves no step back, as for a filter. */
export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  window.dispatchEvent(new Event('svc-navigate'));
}
