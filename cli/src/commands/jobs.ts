import { ApiError, toCommandLine, type Client } from '@svc/client';
import { JOB_STATUSES, routes, type AnswerOf, type Job, type JobAttempt } from '@svc/contract';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { toSentence } from '../output/api-error.js';
import { toFailureNote, toFailureWords } from '../output/failure-words.js';
import { toAge, toShownId, toTime } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { styleOfStatus, type Paint } from '../output/style.js';
import { toFields, toPlainText, toTable, type Column } from '../output/table.js';
import { toAttemptLines, toRunTime } from './attempts.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findPlacement, type PlacementOptions } from './find-placement.js';
import { findJob, JOB_REFERENCE, NEEDED_JOB } from './find-record.js';
import { readNodeNames, readProjectNames } from './node-names.js';
import { parseInteger, parseOneOf } from './parse.js';

export function addJobCommands(program: Command): void {
  withJson(program.command('jobs'))
    .description('list jobs, newest first')
    .option(
      '--status <status>',
      `only jobs with this status: ${JOB_STATUSES.join(', ')}`,
      parseOneOf(JOB_STATUSES),
    )
    .option('--name <name>', 'only jobs with exactly this name')
    .option('--project <name>', 'only jobs of this project, by name or id')
    .option('--experiment <name>', 'only jobs of this experiment, by name or id')
    .option('--search <words>', 'only jobs with every word in the name, or as beginning or end of the id')
    .option('--limit <n>', 'number of jobs to list, at most 1000', parseInteger)
    .option(
      '--before <ms>',
      'only jobs created before this time, as the previous page names it',
      parseInteger,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc jobs --status running\n  svc jobs --project vision --search "resnet lr"',
    )
    .action(listJobs);

  withJson(program.command('job'))
    .description('show a job')
    .argument('[job]', JOB_REFERENCE)
    .addHelpText('after', '\nExamples:\n  svc job\n  svc job X8R2QF --json')
    .action(showJob);

  withJson(program.command('cancel'))
    .description('cancel jobs: their processes get SIGTERM, and SIGKILL after the grace period')
    .argument('<jobs...>', 'ids of jobs, the beginnings or ends of ids, or names (the newest of each)')
    .addHelpText(
      'after',
      '\nThe grace period is 10 s, unless the configuration of the server has another `kill_grace_s`.\n\nExample:\n  svc cancel X8R2QF train.py',
    )
    .action(cancelJobs);

  withJson(program.command('retry'))
    .description('queue a job that has ended or is LOST again')
    .argument('<job>', NEEDED_JOB)
    .addHelpText(
      'after',
      '\nThe same job gets a further attempt. `svc resubmit` submits a new job like it instead.\n\nExample:\n  svc retry X8R2QF',
    )
    .action(retryJob);
}

interface ListOptions extends JsonOptions, PlacementOptions {
  readonly status?: Job['status'];
  readonly name?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly before?: number;
}

async function listJobs({ status, name, search, limit, before, ...options }: ListOptions): Promise<void> {
  const client = connect(options);
  const query = { ...(await findPlacement(client, options)), status, name, q: search, limit, before };
  const page = await client.call(routes.listJobs, { query });
  const names = options.json ? new Map<string, string>() : await readNames(client, page.items);
  print(page, options.json, ({ items }, paint) =>
    items.length > 0 ? toTable(toColumns(items, names), items, paint) : ['no jobs'],
  );
  if (!options.json && page.next_before !== null) noteOlder(page.next_before);
}

/** The names of nodes, and those of projects that a job was submitted to by id, as an evaluation is. */
async function readNames(
  client: Client,
  jobs: readonly Job[],
  attempts: readonly JobAttempt[] = [],
): Promise<ReadonlyMap<string, string>> {
  const byId = jobs.filter(({ project, project_id }) => project !== null && project === project_id);
  return new Map([
    ...(await readNodeNames(client, [...jobs, ...attempts])),
    ...(await readProjectNames(client, byId)),
  ]);
}

const toProject = ({ project, project_id }: Job, names: ReadonlyMap<string, string>): string =>
  names.get(project_id ?? '') ?? project ?? '-';

/** Priority and attempt are shown where a job has another than most. */
function toColumns(jobs: readonly Job[], names: ReadonlyMap<string, string>): readonly Column<Job>[] {
  const priority: Column<Job> = {
    title: 'PRIO',
    cell: (job) => String(job.priority),
    align: 'right',
    optional: true,
  };
  const attempt: Column<Job> = {
    title: 'ATTEMPT',
    cell: (job) => String(job.attempt),
    align: 'right',
    optional: true,
  };
  return [
    { title: 'ID', cell: (job) => toShownId(job.id) },
    { title: 'NAME', cell: (job) => job.name, shrinks: true },
    { title: 'PROJECT', cell: (job) => toProject(job, names), shrinks: true, optional: true },
    { title: 'STATUS', cell: (job) => job.status, style: (job) => styleOfStatus(job.status) },
    {
      title: 'GPU',
      cell: (job) => (job.resources.cpu_only ? '-' : String(job.resources.gpu)),
      align: 'right',
    },
    ...(jobs.some((job) => job.priority !== 0) ? [priority] : []),
    ...(jobs.some((job) => job.attempt > 1) ? [attempt] : []),
    {
      title: 'NODE',
      cell: ({ node_id }) => names.get(node_id ?? '') ?? toShownId(node_id),
      shrinks: true,
      optional: true,
    },
    { title: 'EXIT', cell: (job) => String(job.exit_code ?? '-'), align: 'right', optional: true },
    { title: 'RAN FOR', cell: toRunTime, align: 'right' },
    { title: 'CREATED', cell: (job) => toAge(job.created_at), optional: true },
    {
      title: 'NOTE',
      cell: (job) => job.pending_reason ?? toFailureNote(job),
      shrinks: true,
    },
  ];
}

async function showJob(reference: string | undefined, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const job = await client.call(routes.getJob, { params: { job_id: await findJob(client, reference) } });
  const hasMore = job.attempt > 1 && !options.json;
  const { items: attempts } = hasMore
    ? await client.call(routes.listJobAttempts, { params: { job_id: job.id } })
    : { items: [] };
  const names = options.json ? new Map<string, string>() : await readNames(client, [job], attempts);
  print(job, options.json, (_, paint) => [
    ...toJobLines(job, names, paint),
    ...(hasMore ? ['', ...toAttemptLines(attempts, names, paint)] : []),
  ]);
}

function toJobLines(job: Job, names: ReadonlyMap<string, string>, paint: Paint): string[] {
  const { gpu, cpu_only } = job.resources;
  const env = Object.entries(job.env).map(([name, value]) => `${name}=${value}`);
  const optional: readonly (readonly [string, string | null])[] = [
    ['waiting', job.pending_reason],
    ['ended', toFailureWords(job) || null],
    ['run', job.run_id],
    ['node', names.get(job.node_id ?? '') ?? job.node_id],
    ['gpu slots', job.gpu_indices.join(', ') || null],
    ['project', names.get(job.project_id ?? '') ?? job.project],
    ['experiment', job.experiment],
    ['image', job.image],
    ['options', toRunnerOptions(job) || null],
    ['env', env.join(' ') || null],
    [
      'needs labels',
      Object.entries(job.node_selector)
        .map((pair) => pair.join('='))
        .join(' ') || null,
    ],
  ];
  return [
    `${paint('bold', toPlainText(job.name))}  ${paint(styleOfStatus(job.status), job.status)}`,
    ...toFields(
      [
        ['id', job.id],
        ['command', toCommandLine(job.command)],
        ['working dir', toWorkingDir(job)],
        ['runner', job.runner],
        ['resources', cpu_only ? 'CPU only' : `${gpu} GPU`],
        ['priority', String(job.priority)],
        ['attempt', toAttempt(job)],
        ...optional.filter((field): field is [string, string] => field[1] !== null),
        ['created', toTime(job.created_at)],
        ['started', toTime(job.started_at)],
        ['finished', toTime(job.finished_at)],
        ['ran for', toRunTime(job)],
      ],
      paint,
    ),
  ];
}

/** `memory_mb=64`; the image has a line of its own. */
function toRunnerOptions({ runner_options }: Job): string {
  return Object.entries(runner_options)
    .filter(([name]) => name !== 'image')
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
}

/** A retry that somebody asked for may come after the last automatic one. */
function toAttempt({ attempt, max_attempts }: Job): string {
  return attempt > max_attempts ? String(attempt) : `${attempt} of ${max_attempts}`;
}

type Cancelled = AnswerOf<typeof routes.cancelJob>['body'];

function toCancelWords({ job_id, result, kill_grace_s }: Cancelled): string {
  if (result === 'CANCELLED') return `${job_id} CANCELLED`;
  return `${job_id} is asked to stop: its processes get SIGTERM, and SIGKILL if they still run after ${kill_grace_s} s`;
}

/** Each by itself: what is wrong with one does not keep the others from being cancelled. */
async function cancelJobs(references: readonly string[], options: JsonOptions): Promise<void> {
  const client = connect(options);
  const problems: string[] = [];
  const answers: Cancelled[] = [];
  for (const reference of references) {
    try {
      const params = { job_id: await findJob(client, reference) };
      answers.push(await client.call(routes.cancelJob, { params }));
    } catch (error) {
      if (!(error instanceof Failure) && !(error instanceof ApiError)) throw error;
      problems.push(error instanceof ApiError ? toSentence(error) : error.message);
    }
  }
  const [only] = answers;
  print(references.length === 1 && only ? only : answers, options.json, () => answers.map(toCancelWords));
  if (problems.length > 0) throw new Failure(problems.join('; '));
}

async function retryJob(reference: string, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const job = await client.call(routes.retryJob, { params: { job_id: await findJob(client, reference) } });
  print(job, options.json, () => [`${job.id} ${job.status}, attempt ${job.attempt}`]);
}

function toWorkingDir({ working_dir, snapshot }: Job): string {
  if (snapshot !== null) return `a copy of snapshot ${snapshot.slice(0, 12)} (svc code gets it)`;
  return working_dir ?? 'an empty one of its own';
}
