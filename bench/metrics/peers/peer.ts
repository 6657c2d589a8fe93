export interface PeerSizes {
  readonly points: number;
  readonly clients: number;
  /** Length of the series that is charted. */
  readonly chartPoints: number;
  readonly repeats: number;
}

export interface PeerFigures {
  readonly version: string;
  /** null: not measured. */
  readonly pointsPerSecond: number | null;
  /** How long its own chart of a series of `chartPoints` took, in ms; null: not measured. */
  readonly chartMs: readonly number[] | null;
  readonly chartPoints: number;
}

/** Another tracker, measured in an empty folder of its own. Throws when it cannot be installed or started. */
export interface Peer {
  readonly name: string;
  measure(dir: string, sizes: PeerSizes): Promise<PeerFigures>;
}
