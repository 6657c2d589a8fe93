import { NodeRecord, NodeSnapshot, nullable, routes, strict } from '@svc/contract';
import { Type } from 'typebox';
import { PAGE_ITEMS, toPage } from './pages.js';
import { defineTool, only, pick, toAction } from './tool.js';

const Brief = {
  ...pick(NodeRecord, 'id', 'name', 'status', 'busy', 'cpu_jobs', 'max_cpu_jobs', 'last_heartbeat_at'),
  gpus: Type.Integer(),
  free_gpus: Type.Integer(),
  gpu_model: nullable(Type.String()),
};

function toBrief(node: NodeRecord) {
  return {
    ...only(node, Brief),
    gpus: node.slots.length,
    free_gpus: node.slots.filter(({ busy, health }) => !busy && health.state === 'ok').length,
    gpu_model: node.slots[0]?.model ?? null,
  };
}

export const listNodes = defineTool(
  {
    name: 'list_nodes',
    title: 'List nodes',
    description: 'All agent hosts: whether they are online and busy, and how many of their GPUs are free.',
    group: 'observe',
    output: {},
    list: ['nodes', strict(Brief)],
  },
  async ({ client, signal }, args) => {
    const { limit = PAGE_ITEMS, before } = args;
    const rows = await client.call(routes.listNodes, { query: { limit, before }, signal });
    const { items } = rows;
    const page = { name: 'nodes', tool: 'list_nodes', args } as const;
    const actions = items
      .slice(0, 1)
      .map(({ id, name }) =>
        toAction('get_node_status', { node_id: id }, `slots, load and GPU processes of the node ${name}`),
      );
    return {
      body: {},
      list: toPage(page, rows, { limit, cursorOf: ({ id }) => id, toItem: toBrief }),
      next_actions: [...actions, toAction('list_jobs', { status: 'QUEUED' }, 'the jobs that wait, and why')],
    };
  },
);

const Status = {
  ...Brief,
  ...pick(NodeRecord, 'hostname', 'version', 'labels', 'runners', 'slots', 'system'),
  metrics: Type.Record(Type.String(), Type.Number(), {
    description: 'The newest values of the last 60 seconds.',
  }),
  processes: NodeSnapshot.properties.processes,
};

export const getNodeStatus = defineTool(
  {
    name: 'get_node_status',
    title: 'Node status',
    description:
      'One agent host: its GPU slots with the jobs on them and why one takes no job, and CPU, memory, disk, GPU utilization, temperature and GPU processes of the last minute.',
    group: 'observe',
    output: Status,
  },
  async ({ client, signal }, { node_id }) => {
    const [node, snapshot] = await Promise.all([
      client.call(routes.getNode, { params: { node_id }, signal }),
      client.call(routes.getNodeSnapshot, { params: { node_id }, signal }),
    ]);
    const jobs = [...new Set(node.slots.flatMap(({ job_id }) => job_id ?? []))];
    return {
      body: {
        ...only(node, Status),
        ...toBrief(node),
        metrics: Object.fromEntries(
          Object.entries(snapshot.metrics).map(([name, { value }]) => [name, value]),
        ),
        processes: snapshot.processes,
      },
      next_actions: [
        ...jobs.slice(0, 3).map((job_id) => toAction('get_job', { job_id }, 'it holds GPUs of this node')),
        toAction('list_events', { node_id: node.id }, 'what happened on this node'),
      ],
    };
  },
);
