import { Type } from 'typebox';

/** `runner_options` of a job on the process runner: there are none. */
export const ProcessOptions = Type.Object({}, { additionalProperties: false });

/** What the agent half carries out. */
export interface ProcessPlan {
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
}
