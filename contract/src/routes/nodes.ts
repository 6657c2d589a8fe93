import { limit, listOf, route, strict } from '../route.js';
import { NodeRecord } from '../records/node.js';

export const listNodes = route({
  id: 'nodes.list',
  method: 'GET',
  path: '/nodes',
  scope: 'read',
  summary: 'All nodes with their slots and busy state.',
  query: strict({ limit: limit() }),
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
