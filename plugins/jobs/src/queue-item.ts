/** What a scheduling pass needs to know of a queued job; times in ms. */
export interface QueueItem {
  readonly id: string;
  readonly attempt: number;
  /** 0: a cpu-only job. */
  readonly gpu: number;
  readonly runner: string;
  readonly node_selector: Readonly<Record<string, string>>;
  readonly not_before: number | null;
  readonly head_since: number | null;
  /** Where it goes if there is room; null: no node is better than another. */
  readonly preferred_node_id: string | null;
}

/** What decides which nodes can run a job. */
export type JobRequirements = Pick<QueueItem, 'gpu' | 'runner' | 'node_selector'>;

/** Whether another engine schedules the jobs of that runner: then they take neither GPU slots nor a cpu-only place of a node. */
export type IsExternal = (runner: string) => boolean;
