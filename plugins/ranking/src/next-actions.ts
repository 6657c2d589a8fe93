import { withoutDirection, type NextActionRecord, type Protocol, type ToolName } from '@svc/contract';
import type { EvaluatedValue, ProtocolFilter } from '@svc/plugin-evaluations';
import type { Found } from './best-checkpoint.js';
import type { Basis, Ranking } from './comparison.js';
import type { Parts } from './parts.js';
import type { Candidate } from './standing.js';

/** In one call of a comparison. */
const MOST_IDS = 50;

export function afterBest({ metric, winner, tied }: Found, labels: ProtocolFilter): NextActionRecord[] {
  const { id: checkpoint_id, run_id, standing } = winner;
  const withLabels = Object.keys(given(labels)).length > 0 ? ' with these labels' : '';
  const compare = toAction(
    'compare_checkpoints',
    { ids: tied.slice(0, MOST_IDS).map(({ id }) => id), metric, ...given(labels) },
    `${tied.length} checkpoints have this value of "${metric}"`,
  );
  const look =
    standing.source === 'evaluation'
      ? toAction(
          'list_evaluations',
          { checkpoint_id },
          'all results of this checkpoint, of other metrics too',
        )
      : toAction(
          'get_run_summary',
          { run_id },
          `no evaluation${withLabels} has "${metric}", so the value is what the training logged; an evaluation of the checkpoint would confirm it`,
        );
  return [...(tied.length > 1 ? [compare] : []), look];
}

export function afterComparingRuns(
  { sorted, winner }: Ranking<Candidate>,
  { metric }: Basis,
  labels: ProtocolFilter,
): NextActionRecord[] {
  const without = sorted.find(({ standing }) => standing === null);
  const best = (run_id: string) =>
    toAction('get_best_checkpoint', { run_id, metric, ...given(labels) }, 'the checkpoint of the best run');
  const missing = (run_id: string) =>
    toAction(
      'get_run_summary',
      { run_id },
      `it has no value of "${metric}": its summary names the metrics that it has`,
    );
  return [...(winner ? [best(winner.id)] : []), ...(without ? [missing(without.id)] : [])];
}

/** Where some have an evaluation and others only what their training logged, the first of these is to be evaluated in the same way. */
export async function afterComparingCheckpoints(
  parts: Parts,
  { sorted, winner }: Ranking<Candidate>,
  { metric, protocol }: Basis,
  evaluated: readonly EvaluatedValue[],
): Promise<NextActionRecord[]> {
  const look = (checkpoint_id: string) =>
    toAction(
      'list_evaluations',
      { checkpoint_id },
      'all results of the best checkpoint, of other metrics too',
    );
  const unequal = sorted.find(({ standing }) => standing?.source !== 'evaluation');
  const [like] = evaluated;
  const command = unequal && like ? (await parts.jobs.get(parts.ctx.db, like.job_id))?.command : undefined;
  const evaluate =
    unequal && command
      ? [
          toAction(
            'evaluate_checkpoint',
            { checkpoint_id: unequal.id, command, ...given(protocol ?? {}) },
            `it has no evaluation of "${metric}", others have: this is the command that evaluated them`,
          ),
        ]
      : [];
  return [...evaluate, ...(winner ? [look(winner.id)] : [])];
}

function toAction(tool: ToolName, args: NextActionRecord['args'], reason: string): NextActionRecord {
  return { tool, args, reason: withoutDirection(reason) };
}

/** The labels that there are. */
function given(labels: ProtocolFilter | Partial<Protocol>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
