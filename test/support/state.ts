import { routes } from '@svc/contract';
import type { Client } from '@svc/client';

/** Everything that the API shows of the server's state, but for when tokens were last used. */
export async function readState(client: Client): Promise<unknown> {
  const [jobs, runs, projects, experiments, events, nodes, tokens] = await Promise.all([
    client.call(routes.listJobs, { query: { limit: 1000 } }),
    client.call(routes.listRuns, { query: { limit: 1000 } }),
    client.call(routes.listProjects, { query: { limit: 1000 } }),
    client.call(routes.listExperiments, { query: { limit: 1000 } }),
    client.call(routes.listEvents, { query: { limit: 1000 } }),
    client.call(routes.listNodes),
    client.call(routes.listTokens),
  ]);
  const metrics = await Promise.all(
    runs.items.map(({ id }) => client.call(routes.getRunSummary, { params: { run_id: id } })),
  );
  const checkpoints = await Promise.all(
    runs.items.map(({ id }) => client.call(routes.listRunCheckpoints, { params: { run_id: id } })),
  );
  const stableTokens = tokens.items.map(({ last_used_at: _changes, ...token }) => token);
  const { items } = nodes;
  // What is measured of a node changes by itself.
  const stableNodes = items.map(({ live: _live, slots, ...node }) => ({
    ...node,
    slots: slots.map(({ index, uuid, busy, job_id, health }) => ({ index, uuid, busy, job_id, health })),
  }));
  return {
    jobs,
    runs,
    projects,
    experiments,
    events,
    nodes: stableNodes,
    metrics,
    checkpoints,
    tokens: stableTokens,
  };
}
