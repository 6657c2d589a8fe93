import { Type, type Static } from 'typebox';
import { GpuProcess } from './records/node.js';
import { MAX_FRAME_SAMPLES } from './protocol/limits.js';
import { Timestamp, nullable, strict } from './route.js';

/**
 * Samples of a node in columns: `values[name][i]` was measured at `ts[i]`, null where it was not. `ts` rises strictly.
 * `processes` are those of the GPUs at the newest sample. `late`: they were measured while the server was away and have waited on the
 * agent's disk. They say nothing of the present, come in any order beside the others, and each is stored once however often it comes.
 */
export const NodeMetricsFrame = strict({
  type: Type.Literal('node_metrics'),
  ts: Type.Array(Timestamp, { minItems: 1, maxItems: MAX_FRAME_SAMPLES }),
  values: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.Array(nullable(Type.Number()))),
  processes: Type.Array(
    // Older agents name no user.
    strict({ ...GpuProcess.properties, user: Type.Optional(GpuProcess.properties.user) }),
    { maxItems: 10_000 },
  ),
  late: Type.Optional(Type.Literal(true)),
});
export type NodeMetricsFrame = Static<typeof NodeMetricsFrame>;

/** Everything up to the sample of that time is stored. `late`: the late frame that ends with that sample is stored, and it alone. */
export const NodeMetricsAck = strict({
  type: Type.Literal('node_metrics_ack'),
  ts: Timestamp,
  late: Type.Optional(Type.Literal(true)),
});
export type NodeMetricsAck = Static<typeof NodeMetricsAck>;
