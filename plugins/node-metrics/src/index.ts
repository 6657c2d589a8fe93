import { routes as contract, type NodeRecord } from '@svc/contract';
import { definePlugin, fail, ok, requireId, type PluginContext } from '@svc/kernel';
import {
  frameReceived,
  nodeFigures,
  nodeRemove,
  nodesRef,
  type NodeFigures,
  type Nodes,
} from '@svc/plugin-nodes';
import { Type } from 'typebox';
import { samplesReceived } from './hooks.js';
import { NodeMetricsIntake } from './intake.js';
import { readMeans } from './means.js';
import { nodeMetricsMigrations } from './migrations.js';
import { readSeries } from './reader.js';
import { toFigures, toSnapshot } from './present.js';
import { Rollup } from './rollup.js';
import { nodeMetricsRef } from './service.js';

export * from './hooks.js';
export * from './service.js';

const HOUR_MS = 3_600_000;

const options = Type.Object(
  {
    full_rate_h: Type.Number({
      minimum: 1,
      default: 24,
      description: 'Node metrics are kept as measured for so many hours, then as means of a minute.',
    }),
    minute_means_d: Type.Number({
      minimum: 1,
      default: 30,
      description: 'Means of a minute are kept for so many days.',
    }),
  },
  { additionalProperties: false },
);

export const nodeMetrics = definePlugin({
  name: 'node-metrics',
  requires: ['nodes'],
  options,
  setup(ctx, { full_rate_h, minute_means_d }) {
    const nodes = ctx.use(nodesRef);
    const intake = new NodeMetricsIntake(ctx, nodes);
    const rollup = new Rollup(ctx, {
      fullRateMs: full_rate_h * HOUR_MS,
      minuteMeansMs: minute_means_d * 24 * HOUR_MS,
    });
    ctx.declare(samplesReceived);
    ctx.provide(nodeMetricsRef, {
      series: (nodeId, names, from) =>
        readSeries(ctx.db, nodeId, intake.buffer(nodeId), {
          names,
          from,
          to: Number.MAX_SAFE_INTEGER,
          limit: Infinity,
        }),
      means: (nodeId, names, from, to) =>
        readMeans(ctx.db, nodeId, intake.buffer(nodeId), { names: new Set(names), from, to }),
    });
    ctx.tap(frameReceived.node_metrics, (frame, from) => intake.frame(frame, from));
    ctx.tap(nodeRemove, (_tx, { id }) => intake.forget(id));
    ctx.tap(nodeFigures, async (records) => figuresOf(records, intake, ctx.clock.now()));
    ctx.migrations(nodeMetricsMigrations);
    ctx.owns({
      table: 'node_metric_chunks',
      key: ['node_id', 'resolution', 'from_ts'],
      of: { node_id: 'node' },
      batched: true,
    });
    ctx.hooks.routes.tap(ctx.name, (routes) => {
      routes.add(contract.readNodeMetrics, async ({ params, query }) => {
        const nodeId = await requireNode(ctx, nodes, params.node_id);
        const { names, window_s = 3600, until, limit = 1000 } = query;
        const series = await readSeries(ctx.db, nodeId, intake.buffer(nodeId), {
          names: names === undefined ? null : new Set(names.split(',')),
          from: (until ?? ctx.clock.now()) - window_s * 1000,
          // Without an end also what a node whose clock is ahead has measured.
          to: until ?? Number.MAX_SAFE_INTEGER,
          limit,
        });
        return ok({ node_id: nodeId, series });
      });
      routes.add(contract.getNodeSnapshot, async ({ params }) => {
        const nodeId = await requireNode(ctx, nodes, params.node_id);
        return ok(toSnapshot(nodeId, intake.buffer(nodeId), ctx.clock.now()));
      });
    });
    ctx.ready(() => {
      intake.start();
      rollup.start();
    });
  },
});

function figuresOf(
  records: readonly NodeRecord[],
  intake: NodeMetricsIntake,
  now: number,
): ReadonlyMap<string, NodeFigures> {
  const known = records.flatMap((record) => {
    const buffer = intake.buffer(record.id);
    const figures = buffer && toFigures(record, buffer, now);
    return figures ? [[record.id, figures] as const] : [];
  });
  return new Map(known);
}

async function requireNode({ db }: PluginContext, nodes: Nodes, given: string): Promise<string> {
  const id = requireId('node', given);
  return (await nodes.get(db, id))?.id ?? fail('not_found', `no node "${given}"`);
}
