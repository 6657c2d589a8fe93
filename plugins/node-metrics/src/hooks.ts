import { observation } from '@svc/kernel';

/** Samples in columns: `columns.get(name)[i]` was measured at `ts[i]` by the clock of the node; NaN where it was not. */
export type SampleBatch = {
  readonly node_id: string;
  readonly ts: readonly number[];
  readonly columns: ReadonlyMap<string, ArrayLike<number>>;
};

/** Fired with new samples as they arrive. Late ones, which say nothing of the present, are not among them. */
export const samplesReceived = observation<[batch: SampleBatch]>('node-metrics.samplesReceived');
