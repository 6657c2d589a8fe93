import { findNan } from '../evidence/nan.js';
import type { RunRule } from '../failure-rule.js';
import { nanLoss } from './nan-loss.js';

const { title, cause, fixes, confidence } = nanLoss.definition;

/** The same for a run that has no job, and so no log and no command. */
export const runNanLoss: RunRule = {
  name: 'run-nan-loss',
  subject: 'run',
  definition: { title, cause, fixes, confidence },
  evaluate({ run, summary, events }) {
    const evidence = findNan({ summary, events });
    if (evidence === null) return { findings: [], next_actions: [] };
    const names = evidence.flatMap((citation) => ('metric' in citation ? [citation.metric] : []));
    return {
      findings: [{ severity: 'critical', title, message: cause, confidence, evidence, fixes }],
      next_actions: [
        {
          tool: 'query_metrics',
          args: { run_id: run.id, ...(names.length > 0 && { names }) },
          reason:
            'The points before the first NaN show how it began. Re-running unchanged fails identically.',
        },
      ],
    };
  },
};
