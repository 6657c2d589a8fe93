/** What a round really did, against which the record is judged. Times in ms since the epoch. */
export interface Deeds {
  /** SIGKILLs to what belongs to an attempt. */
  readonly kills: Kill[];
  /** Per node: from when to when something stood between it and the server; `to` null while it does. */
  readonly disturbances: Disturbance[];
}

export interface Kill {
  readonly what: 'shim' | 'process';
  readonly job: string;
  readonly attempt: number;
  readonly node: string;
  readonly at: number;
}

export interface Disturbance {
  readonly kind: 'away' | 'agent-killed' | 'disk-full';
  /** null: all of them. */
  readonly node: string | null;
  readonly from: number;
  to: number | null;
}

export function createDeeds(): Deeds {
  return { kills: [], disturbances: [] };
}
