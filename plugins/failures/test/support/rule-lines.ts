import type { JobAttempt } from '@svc/contract';

/** Lines as a tool writes them. */
export interface RuleLines {
  /** Where the tool has the text, or what writes it. */
  readonly source: string;
  /** Each alone in the log of a failed attempt: the rule explains it. */
  readonly explains: readonly string[];
  /** Each alone: the rule does not claim it. */
  readonly not: readonly string[];
  /** How the attempt of `explains` ended; left out: with exit code 1. */
  readonly end?: Partial<JobAttempt>;
}

export const killedBy = (exit_code: number): Partial<JobAttempt> => ({
  exit_code,
  failure_reason: 'signal',
  failure_message: `was killed by a signal (${exit_code})`,
});
