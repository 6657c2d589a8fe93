import type { MetricPoint } from '@svc/contract';
import type { CheckpointBody, EventBody, FoundRun, MetricBody, RunFacts } from '../reading/found-run.js';
import type { Skips } from '../reading/skips.js';

export interface Tally {
  added: number;
  /** They were there before. */
  known: number;
}

export interface Tallies {
  readonly points: Tally;
  readonly checkpoints: Tally;
  readonly events: Tally;
}

/** Where imported runs are written to. */
export interface Destination {
  /** The run that an earlier import has made of the training, or a new one. `firstTs`: of its first point, in ms. */
  open(found: FoundRun, facts: RunFacts, firstTs: number | undefined, skips: Skips): Promise<RunWriter>;
}

/** Each may be repeated: what is there already is not stored twice. */
export interface RunWriter {
  /** null: nothing is written, and there is no such run yet. */
  readonly id: string | null;
  readonly isNew: boolean;
  readonly tallies: Tallies;
  /** 1 to 10 000 points. */
  points(points: readonly MetricPoint[]): Promise<void>;
  checkpoint(body: CheckpointBody): Promise<void>;
  /** `key`: of at most 255 characters, the same at each import. */
  event(key: string, body: EventBody): Promise<void>;
  metric(name: string, body: MetricBody): Promise<void>;
  /** `lastTs`: of the latest point, in ms. */
  end(facts: RunFacts, lastTs: number | undefined): Promise<void>;
}

export function newTallies(): Tallies {
  return {
    points: { added: 0, known: 0 },
    checkpoints: { added: 0, known: 0 },
    events: { added: 0, known: 0 },
  };
}
