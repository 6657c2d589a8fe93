import type { LogStream } from '@svc/contract';
import type { Witness } from './journal.js';
import type { AttemptRecord, JobRecord } from './record.js';

const PREFIX = { stdout: 'o', stderr: 'e' } as const;
const PARTIAL_LINE = 'o the end without a newline';

/** Each line and each point that the process of an attempt gave away is in the record once, and in order. */
export function checkOutput(record: JobRecord, witnesses: readonly Witness[]): string[] {
  return record.attempts.flatMap((attempt) => {
    const main = findMain(record, attempt, witnesses);
    const breaches = [
      ...checkStream(attempt, 'stdout', main, record),
      ...checkStream(attempt, 'stderr', main, record),
      ...checkPoints(attempt, main),
    ];
    return breaches.map((breach) => `attempt ${attempt.attempt}: ${breach}`);
  });
}

/** The process that the record tells of: when another node had started it too, not that one. */
function findMain(
  { job, events }: JobRecord,
  { attempt }: AttemptRecord,
  witnesses: readonly Witness[],
): Witness | null {
  const mains = witnesses.filter((witness) => witness.role === 'main' && witness.attempt === attempt);
  const told = events.findLast(
    ({ data, node_id }) => data['attempt'] === attempt && node_id !== null,
  )?.node_id;
  const node = attempt === job.attempt ? (job.node_id ?? told) : told;
  return mains.find((main) => main.node === node) ?? null;
}

function checkStream(
  { log }: AttemptRecord,
  stream: LogStream,
  main: Witness | null,
  record: JobRecord,
): string[] {
  const lines = log[stream].split('\n').slice(0, -1);
  if (main === null)
    return lines.length > 0 ? [`${stream} has ${lines.length} lines, but no process ran`] : [];
  const toLine = (number: number) =>
    `${PREFIX[stream]} ${main.node} ${main.attempt} ${number} ${'x'.repeat(number % 40)}`;
  const wrong = lines.findIndex((line, number) => line !== toLine(number));
  const sound = wrong < 0 ? lines.length : wrong;
  const rest = lines.slice(sound);
  const breaches = [];
  if (sound < main.printed || sound > main.intended)
    breaches.push(
      `${stream} has ${sound} lines in order, printed were ${main.printed} to ${main.intended}; then ${show(rest)}`,
    );
  const cut = rest.length === 1 && toLine(sound).startsWith(rest[0]!) && main.end === null;
  const partial = stream === 'stdout' && rest.length === 1 && rest[0] === PARTIAL_LINE;
  if (rest.length > 0 && !cut && !partial) breaches.push(`${stream} goes on with ${show(rest)}`);
  const expectsPartial =
    stream === 'stdout' && record.submitted.plan.worker.partial_last_line && main.end !== null;
  if (expectsPartial && !partial) breaches.push(`${stream} lacks its last line, the one without a newline`);
  return breaches;
}

function checkPoints({ points, run }: AttemptRecord, main: Witness | null): string[] {
  if (main === null || main.logged === 0)
    return points.length > 0 ? [`has ${points.length} points of nobody`] : [];
  const wrong = points.findIndex(([step, value], index) => step !== index || value !== 3 * index);
  if (wrong >= 0)
    return [`point ${wrong} is ${points[wrong]!.join(': ')}; ${points.length} of ${main.logged}`];
  const least = main.end === null ? main.flushed : main.logged;
  if (points.length >= least && points.length <= main.logged) return [];
  return [
    `has ${points.length} points; ${main.logged} were logged, ${main.flushed} said to be delivered (${run?.id ?? 'no run'})`,
  ];
}

function show(lines: readonly string[]): string {
  return lines.length === 0 ? 'nothing' : `${JSON.stringify(lines.slice(0, 2))} (${lines.length})`;
}
