import { Type, type Static } from 'typebox';
import { GpuProcess } from './records/node.js';
import { Timestamp, nullable, strict } from './route.js';

export const MAX_FRAME_SAMPLES = 300;

/**
 * Samples of a node in columns: `values[name][i]` was measured at `ts[i]`, null where it was not. `ts` rises strictly.
 * `processes` are those of the GPUs at the newest sample.
 */
export const NodeMetricsFrame = strict({
  type: Type.Literal('node_metrics'),
  ts: Type.Array(Timestamp, { minItems: 1, maxItems: MAX_FRAME_SAMPLES }),
  values: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.Array(nullable(Type.Number()))),
  processes: Type.Array(GpuProcess, { maxItems: 10_000 }),
});
export type NodeMetricsFrame = Static<typeof NodeMetricsFrame>;

/** Everything up to the sample of that time is stored. */
export const NodeMetricsAck = strict({ type: Type.Literal('node_metrics_ack'), ts: Timestamp });
export type NodeMetricsAck = Static<typeof NodeMetricsAck>;
