import { CLOSE, HEARTBEAT_INTERVAL_MS, NODE_OFFLINE_AFTER_MS } from '@svc/contract';
import { definePlugin, namesById } from '@svc/kernel';
import { eventsRef, findSubject, nameSubjects } from '@svc/plugin-events';
import { Type } from 'typebox';
import { frameReceived, helloReceived, nodeChanged, nodeFigures, nodeRemove } from './hooks.js';
import { Channels } from './channels.js';
import { DisconnectNotices } from './disconnect-notices.js';
import { AgentHub } from './hub.js';
import { Liveness } from './liveness.js';
import { nodesMigrations } from './migrations.js';
import { countNodes, getNode, loadCapacity, requireNode, setAllDisconnected } from './node-store.js';
import { Removal } from './removal.js';
import { addRoutes } from './routes.js';
import { nodesRef, type Nodes } from './service.js';
import { claim, listHoldings, release } from './slot-store.js';

export * from './hooks.js';
export * from './service.js';
export type { MessageHandler, MessageSource } from './channels.js';

const options = Type.Object(
  {
    heartbeat_s: Type.Number({
      minimum: 0.1,
      default: HEARTBEAT_INTERVAL_MS / 1000,
      description: 'How often agents are told to send a heartbeat.',
    }),
    offline_after_s: Type.Number({
      minimum: 0.1,
      default: NODE_OFFLINE_AFTER_MS / 1000,
      description: 'A node that has been silent for so long is OFFLINE, and its jobs become LOST.',
    }),
  },
  { additionalProperties: false },
);

/** What is held for a job says that it may still run. */
const HELD = { of: { node_id: 'node' }, keeps: { job_id: 'job' } };

export const nodes = definePlugin({
  name: 'nodes',
  requires: ['events'],
  options,
  setup(ctx, { heartbeat_s, offline_after_s }) {
    const channels = new Channels(ctx, ctx.use(eventsRef));
    const notices = new DisconnectNotices(ctx, ctx.use(eventsRef));
    const hub = new AgentHub(ctx, notices, channels, heartbeat_s * 1000);
    const removal = new Removal(ctx, hub);
    const liveness = new Liveness(ctx, hub, notices, offline_after_s * 1000);
    ctx.migrations(nodesMigrations);
    ctx.owns(
      { table: 'nodes', kind: 'node' },
      { table: 'slots', key: ['node_id', 'idx'], ...HELD },
      { table: 'cpu_claims', key: ['node_id', 'job_id', 'attempt'], ...HELD },
    );
    for (const hook of [...Object.values(frameReceived), helloReceived, nodeRemove, nodeChanged, nodeFigures])
      ctx.declare(hook);
    ctx.tap(findSubject, async (db, kind, id) =>
      kind === 'node' ? (await requireNode(db, id)).id : undefined,
    );
    ctx.tap(nameSubjects, (db, ids) => namesById(db, 'nodes', ids));
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, hub, removal));
    ctx.provide<Nodes>(nodesRef, {
      get: getNode,
      require: requireNode,
      count: countNodes,
      capacity: (db) => loadCapacity(db, (id) => hub.connections.get(id)?.isOpen ?? false),
      claim,
      release,
      holdings: listHoldings,
      send: (nodeId, frame) => hub.send(nodeId, frame),
      connectionOf: (nodeId) => hub.connections.get(nodeId)?.number ?? null,
      reconnect: (nodeId, reason) => hub.connections.get(nodeId)?.close(CLOSE.sayHelloAgain, reason),
      channel: (name, schema, handle) => channels.open(name, schema, handle),
    });
    ctx.ready(async () => {
      await setAllDisconnected(ctx.db);
      await liveness.start();
    });
    ctx.onClose(async () => {
      await hub.close();
      notices.close();
    });
  },
});
