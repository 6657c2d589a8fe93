import { routes, toId, type FailureExplanation } from '@svc/contract';
import type { Client } from '@svc/client';
import type { Command } from 'commander';
import { print } from '../output/print.js';
import { section } from '../output/section.js';
import type { Paint } from '../output/style.js';
import { toPlainText } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findJob, findRun } from './find-record.js';
import { toActionLines, toCitation, toLogLine } from './next-actions.js';
import { parseInteger } from './parse.js';

const SHOWN_CAUSES = 3;

export function addExplainCommand(program: Command): void {
  withJson(program.command('explain'))
    .description('explain why a job or a run failed: the likely cause with its evidence, and what to change')
    .argument(
      '[job-or-run]',
      'id of a job, a run or an evaluation, the beginning or end of the id of a job, or the name of a job or run (default: the newest job)',
    )
    .option('--attempt <n>', 'attempt of the job (default: the last; of a run: its own)', parseInteger)
    .addHelpText(
      'after',
      '\nExamples:\n  svc explain\n  svc explain X8R2QF --attempt 1\n  svc explain run_01K4QZ2N9J8V5T3C7M6B1D0FGH',
    )
    .action(explain);
}

interface ExplainOptions extends JsonOptions {
  readonly attempt?: number;
}

async function explain(
  reference: string | undefined,
  { attempt, ...options }: ExplainOptions,
): Promise<void> {
  const explanation = await load(connect(options), reference, attempt);
  print(explanation, options.json, toExplanationLines);
}

/** The prefixes `run_` and `eval_` tell a run and an evaluation; anything else is looked for among the jobs first. */
async function load(
  client: Client,
  reference: string | undefined,
  attempt: number | undefined,
): Promise<FailureExplanation> {
  const query = { attempt };
  const ofRun = async () =>
    client.call(routes.explainRunFailure, { params: { run_id: await findRun(client, reference) }, query });
  if (reference?.startsWith('run_') && toId('run', reference) !== null) return ofRun();
  const eval_id = reference?.startsWith('eval_') ? toId('evaluation', reference) : null;
  if (eval_id !== null) {
    const { job_id } = await client.call(routes.getEvaluation, { params: { eval_id } });
    return client.call(routes.explainJobFailure, { params: { job_id }, query });
  }
  const found = await findJob(client, reference).catch((error: unknown) => ({ error }));
  if (typeof found === 'string')
    return client.call(routes.explainJobFailure, { params: { job_id: found }, query });
  return ofRun().catch(() => Promise.reject(found.error));
}

export function toExplanationLines(explanation: FailureExplanation, paint: Paint): string[] {
  const { job_id, run_id, attempt, status, summary, causes, traceback, last_errors, next_actions } =
    explanation;
  const what = job_id === null ? run_id : `${job_id}${attempt === null ? '' : `, attempt ${attempt}`}`;
  const { rule, confidence } = explanation;
  const others = causes.filter((cause) => cause.rule !== rule).slice(0, SHOWN_CAUSES);
  const isShown =
    rule !== null && (traceback !== null || explanation.evidence.some((citation) => 'seq' in citation));
  const sure = confidence === null ? '' : ` (${toPercent(confidence)} sure)`;
  return [
    `${paint('bold', what ?? '')}  ${paint('red', status)}`,
    '',
    toPlainText(summary),
    ...section(`Evidence${sure}`, explanation.evidence.map(toCitation), paint),
    ...section(
      'What to change',
      explanation.suggested_fixes.map((fix) => `- ${fix}`),
      paint,
    ),
    ...section('In your code', traceback ? toTracebackLines(traceback) : [], paint),
    ...section(
      'Also possible',
      others.map((cause) => `${cause.title} (${toPercent(cause.confidence)})`),
      paint,
    ),
    ...section('From the log', isShown ? [] : last_errors.map(toLogLine), paint),
    ...section('Next', toActionLines(next_actions), paint),
  ];
}

function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function toTracebackLines({ error, frame }: NonNullable<FailureExplanation['traceback']>): string[] {
  const at = frame && `${frame.file}:${frame.line}${frame.function === null ? '' : `, in ${frame.function}`}`;
  return [at, frame?.code, error].filter((line) => line !== null && line !== undefined);
}
