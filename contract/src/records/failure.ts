import { Type, type Static } from 'typebox';
import { nullable, strict } from '../route.js';
import { FailureReason } from './job.js';
import { LogLine } from './log.js';
import { CauseRecord, CitationRecord, Confidence, NextActionRecord, StackFrame } from './semantic.js';

/** Why a run or an attempt of a job failed. */
export const FailureExplanation = strict(
  {
    run_id: nullable(Type.String()),
    job_id: nullable(Type.String()),
    attempt: nullable(Type.Integer()),
    status: Type.String({ description: 'Of the attempt; of the run when it has no job.' }),
    exit_code: nullable(Type.Integer()),
    failure_reason: nullable(FailureReason),
    failure_message: nullable(Type.String()),
    summary: Type.String({ description: 'The answer in a sentence. It says so when no rule matched.' }),
    rule: nullable(Type.String()),
    likely_cause: nullable(
      Type.String({ description: 'Of the most likely of `causes`; null when no rule matched.' }),
    ),
    confidence: nullable(Confidence),
    evidence: Type.Array(CitationRecord),
    suggested_fixes: Type.Array(Type.String()),
    causes: Type.Array(CauseRecord, {
      description: 'The conclusions of all rules that matched, the most likely first.',
    }),
    traceback: nullable(
      strict(
        {
          error: nullable(Type.String()),
          frame: nullable(StackFrame),
        },
        { description: 'The last Python traceback: its error, and its last frame in code of the user.' },
      ),
    ),
    last_errors: Type.Array(LogLine, {
      description:
        'The last error lines of the log, oldest first; without any the last 5 lines, those of stderr before others.',
    }),
    next_actions: Type.Array(NextActionRecord, { description: 'Best first.' }),
  },
  { $id: 'FailureExplanation' },
);
export type FailureExplanation = Static<typeof FailureExplanation>;
