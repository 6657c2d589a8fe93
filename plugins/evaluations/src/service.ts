import type { Evaluation, Protocol } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';

/** Labels that are left out match all; an empty one matches evaluations without that label. */
export type ProtocolFilter = { readonly [Label in keyof Protocol]?: string | undefined };

/** What an evaluation that has SUCCEEDED says of one metric. `value` may be NaN or infinite. */
export type EvaluatedValue = Protocol &
  Pick<Evaluation, 'id' | 'checkpoint_id' | 'run_id' | 'job_id'> & { readonly value: number };

export interface Evaluations {
  /** Of every evaluation of checkpoints of these runs that has SUCCEEDED and has the metric. Ids in canonical form. */
  ofRuns(
    db: Db,
    runIds: readonly string[],
    metric: string,
    filter: ProtocolFilter,
  ): Promise<EvaluatedValue[]>;
  ofCheckpoints(
    db: Db,
    checkpointIds: readonly string[],
    metric: string,
    filter: ProtocolFilter,
  ): Promise<EvaluatedValue[]>;
}

export const evaluationsRef = serviceRef<Evaluations>('evaluations');
