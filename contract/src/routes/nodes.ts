import { Type } from 'typebox';
import { TIME_BOUNDS, limit, listOf, page, route, strict } from '../route.js';
import { NodeRecord, NodeSeries, NodeSnapshot } from '../records/node.js';

export const listNodes = route({
  id: 'nodes.list',
  method: 'GET',
  path: '/nodes',
  scope: 'read',
  summary: 'All nodes with their slots and busy state.',
  query: strict(page()),
  answers: { 200: listOf(NodeRecord) },
});

export const getNode = route({
  id: 'nodes.get',
  method: 'GET',
  path: '/nodes/{node_id}',
  scope: 'read',
  summary: 'One node.',
  answers: { 200: NodeRecord },
});

export const drainNode = route({
  id: 'nodes.drain',
  method: 'POST',
  path: '/nodes/{node_id}/drain',
  scope: 'write',
  summary: 'Let the node finish what runs and give it nothing new.',
  answers: { 200: NodeRecord },
});

export const undrainNode = route({
  id: 'nodes.undrain',
  method: 'POST',
  path: '/nodes/{node_id}/undrain',
  scope: 'write',
  summary: 'Let the node take jobs again.',
  answers: { 200: NodeRecord },
});

export const removeNode = route({
  id: 'nodes.remove',
  method: 'DELETE',
  path: '/nodes/{node_id}',
  scope: 'write',
  summary:
    'Forget a node that is gone for good, with its secret; 409 while it is online or has a job. A job that is LOST there does not wait for it any longer.',
  answers: { 200: NodeRecord },
});

export const readNodeMetrics = route({
  id: 'nodes.metrics',
  method: 'GET',
  path: '/nodes/{node_id}/metrics',
  scope: 'read',
  summary: 'System metrics of the node by time, thinned keeping first, last and extremes.',
  query: strict({
    names: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'One comma-separated value; left out: every metric of the node.',
      }),
    ),
    window_s: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 31 * 86_400,
        default: 3600,
        description: 'The last seconds: at full rate for a day, means of a minute before that.',
      }),
    ),
    until: Type.Optional(
      Type.Integer({
        ...TIME_BOUNDS,
        description: 'When these seconds end, in milliseconds since the Unix epoch; left out: now.',
      }),
    ),
    limit: limit(1000, 10_000),
  }),
  answers: { 200: strict({ node_id: Type.String(), series: Type.Record(Type.String(), NodeSeries) }) },
});

export const getNodeSnapshot = route({
  id: 'nodes.snapshot',
  method: 'GET',
  path: '/nodes/{node_id}/snapshot',
  scope: 'read',
  summary: 'The newest value of each metric of the last 60 seconds, and the processes on the GPUs.',
  answers: { 200: NodeSnapshot },
});
