/** A system that queues and runs jobs, on one slot. */
export interface Engine {
  readonly name: string;
  /** One job on an idle system. From just before its submit to when the process itself reads the clock, in ms. */
  timeStart(): Promise<number>;
  /** Submits `count` jobs of `true` and resolves once all have ended: from the first start to the last end, in s. */
  timeRow(count: number): Promise<number>;
}
