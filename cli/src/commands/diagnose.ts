import { percentDone, routes, type Anomaly, type Diagnosis } from '@svc/contract';
import type { Command } from 'commander';
import { toAge, toDuration, toNumber, toSize } from '../output/format.js';
import { print } from '../output/print.js';
import { section } from '../output/section.js';
import { styleOfSeverity, styleOfStatus, type Paint } from '../output/style.js';
import { toFields, toPlainText, type Field } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findRun, RUN_REFERENCE } from './find-record.js';
import { toActionLines, toCitation, toLogLine } from './next-actions.js';

const MIB = 1024 * 1024;

export function addDiagnoseCommand(program: Command): void {
  withJson(program.command('diagnose'))
    .description('show how a run goes: progress, convergence, pace, GPU use, and what needs attention')
    .argument('[run]', RUN_REFERENCE)
    .addHelpText('after', '\nExamples:\n  svc diagnose\n  svc diagnose X8R2QF')
    .action(diagnose);
}

async function diagnose(reference: string | undefined, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const params = { run_id: await findRun(client, reference) };
  print(await client.call(routes.diagnoseRun, { params }), options.json, toDiagnosisLines);
}

export function toDiagnosisLines(diagnosis: Diagnosis, paint: Paint): string[] {
  const { run_id, status, summary, anomalies, last_errors, next_actions } = diagnosis;
  return [
    `${paint('bold', run_id)}  ${paint(styleOfStatus(status), status)}`,
    '',
    toPlainText(summary),
    '',
    ...toFields(toFacts(diagnosis), paint),
    ...toAnomalyLines(anomalies, paint),
    ...section('Errors in the log', last_errors.map(toLogLine), paint),
    ...section('Next', toActionLines(next_actions), paint),
  ];
}

/** The severity is painted, so it is no text of others. */
function toAnomalyLines(anomalies: readonly Anomaly[], paint: Paint): string[] {
  if (anomalies.length === 0) return [];
  const lines = anomalies.flatMap(({ severity, message, evidence, fixes }) => [
    `  ${paint(styleOfSeverity(severity) ?? 'dim', severity)}  ${toPlainText(message)}`,
    ...evidence.map((each) => `    ${toPlainText(toCitation(each))}`),
    ...fixes.map((fix) => `    - ${toPlainText(fix)}`),
  ]);
  return ['', paint('bold', 'Needs attention'), ...lines];
}

function toFacts({ status, progress, convergence, throughput, gpu, last_point_at }: Diagnosis): Field[] {
  const facts: (Field | null)[] = [
    ['progress', toProgress({ status, ...progress })],
    toConvergence(convergence),
    throughput && ['pace', toPace(throughput)],
    ...(gpu?.slots ?? []).map((slot): Field => [`GPU ${slot.index}`, toUse(slot)]),
    ['last point', toAge(last_point_at)],
  ];
  return facts.filter((fact) => fact !== null);
}

function toProgress(progress: Diagnosis['progress'] & Pick<Diagnosis, 'status'>): string {
  const { step, max_steps, time_left } = progress;
  const percent = percentDone(progress);
  if (step === null) return max_steps === null ? '-' : `0 of ${max_steps} steps`;
  const spread = time_left && `${toSpan(time_left.least_s)} to ${toSpan(time_left.most_s)}`;
  return toList([
    `step ${step}${max_steps === null ? '' : ` of ${max_steps}`}`,
    percent === null ? null : `${percent} %`,
    time_left && `about ${toSpan(time_left.likely_s)} left (${spread})`,
  ]);
}

function toSpan(seconds: number): string {
  return toDuration(1000 * Math.round(seconds));
}

function toConvergence(convergence: Diagnosis['convergence']): Field | null {
  const { metric, latest, best, best_step, eval_best, eval_best_step } = convergence;
  if (metric === null) return null;
  const at = (step: number | null) => (step === null ? '' : ` at step ${step}`);
  const text = toList([
    latest === null ? 'not logged' : toNumber(latest),
    toCourse(convergence),
    best === null ? null : `best ${toNumber(best)}${at(best_step)}`,
    eval_best === null ? null : `best evaluation ${toNumber(eval_best)}${at(eval_best_step)}`,
  ]);
  return [metric, text];
}

/** The trend leaves out what is not finite, and is that of a part of the curve: what is worse than its best may be stable, or come back. */
function toCourse({
  latest,
  trend,
  direction,
  is_improving,
  is_stalled,
}: Diagnosis['convergence']): string | null {
  if (typeof latest === 'string') return null;
  if (trend === 'unknown') return 'trend unknown';
  if (is_stalled) return 'stalled';
  const wanted = direction === 'minimize' ? 'decreasing' : 'increasing';
  if (is_improving === false && (trend === 'stable' || trend === wanted)) return 'worse than its best';
  return trend;
}

function toPace({ steps_per_s, change }: NonNullable<Diagnosis['throughput']>): string {
  const percent = change === null ? null : Math.round(change * 100);
  const against = percent === null ? null : `${percent > 0 ? '+' : ''}${percent} % against the time before`;
  return toList([`${toNumber(steps_per_s)} steps per second`, against]);
}

function toUse(slot: NonNullable<Diagnosis['gpu']>['slots'][number]): string {
  const { utilization_percent, memory_used_mb: used, memory_total_mb: total } = slot;
  const of = total === null ? '' : ` of ${toSize(total * MIB)}`;
  return toList([
    `${Math.round(utilization_percent)} % busy over the run`,
    used === null ? null : `memory ${toSize(used * MIB)}${of}`,
  ]);
}

function toList(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(', ');
}
