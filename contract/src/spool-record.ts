import { Type, type Static, type TSchema } from 'typebox';
import { MetricName } from './records/metric.js';
import { Timestamp, strict, text } from './route.js';
import { AbsolutePath, createCheckpoint } from './routes/checkpoints.js';
import { createEvent } from './routes/events.js';
import { defineRunMetric } from './routes/metric-definitions.js';
import { writePoints } from './routes/metrics.js';
import { finishRun, updateRun } from './routes/runs.js';

/**
 * A line of a spool file: what a training reported in a job while the server was away. `body` is that of the request it stands
 * for. Each may be delivered any number of times: points are known by their seq, a checkpoint by path and step, an event by
 * its key (`Idempotency-Key` of the request).
 *
 * The SDK appends such lines to files of its own, `*.jsonl`, in the directory SVC_SPOOL_DIR, and the agent delivers them. The line
 * SPOOL_END says that nothing comes behind it: once delivered, the file is removed.
 */
export const SpoolRecord = Type.Union([
  // `found`: the agent has read them from files of the training; their seqs are from FOUND_SEQ_START on.
  toRecord('points', { body: writePoints.body, found: Type.Optional(Type.Literal(true)) }),
  toRecord('event', {
    ts: Timestamp,
    key: text(255, 1),
    body: createEvent.body,
  }),
  // `source`: left out, the training itself.
  toRecord('checkpoint', {
    ts: Timestamp,
    body: createCheckpoint.body,
    source: Type.Optional(Type.Literal('watcher')),
  }),
  // `earlier`: one of an earlier attempt of the job on that node is gone, or was written over. The record is of the attempt that found it.
  toRecord('checkpoint_gone', {
    ts: Timestamp,
    body: strict({ path: AbsolutePath, earlier: Type.Optional(Type.Literal(true)) }),
  }),
  toRecord('update', { body: updateRun.body }),
  toRecord('metric', { name: MetricName, body: defineRunMetric.body }),
  toRecord('finish', { body: finishRun.body }),
]);
export type SpoolRecord = Static<typeof SpoolRecord>;

function toRecord<const K extends string, const P extends Record<string, TSchema>>(kind: K, fields: P) {
  return strict({ kind: Type.Literal(kind), run_id: Type.String(), ...fields });
}
