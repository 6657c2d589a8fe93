import { follow, type Client, type FollowState, type RouteInput } from '@svc/client';
import { routes, type AnswerOf, type LogLine, type PartialLine } from '@svc/contract';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { UsageError } from '../failure.js';
import { createOutageReporter } from '../output/outage.js';
import {
  drawPartial,
  erasePartial,
  finishPartial,
  forgetPartials,
  setPartial,
  toPartialText,
} from '../output/partial-row.js';
import { note, print, writeOut } from '../output/print.js';
import { parseDuration } from '../output/format.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findJob, JOB_REFERENCE } from './find-record.js';
import { parseInteger } from './parse.js';

const NEWLINE = 0x0a;

export function addLogsCommand(program: Command): void {
  withJson(program.command('logs'))
    .description('print the log of a job: the last lines on a terminal, the whole log into a file or a pipe')
    .argument('[job]', JOB_REFERENCE)
    .option('-f, --follow', 'keep printing new lines until the attempt ends')
    .addOption(new Option('--stream <stream>', 'print only this stream').choices(['stdout', 'stderr']))
    .option('--all', 'print the whole log')
    .option('--head <n>', 'number of first lines to print', parseInteger)
    .option(
      '--tail <n>',
      'number of last lines to print, at most 2000 (default on a terminal: 200)',
      parseInteger,
    )
    .option('--since <age>', 'print only lines written within this time, as in 90s, 15m, 12h or 2d', parseAge)
    .option('--timestamps', 'print the time of each line, in UTC')
    .option('--attempt <n>', 'number of the attempt (default: the newest)', parseInteger)
    .option('--search <text>', 'print only those of the last 2000 lines that contain this text')
    .addHelpText(
      'after',
      '\nExamples:\n  svc logs -f\n  svc logs X8R2QF --stream stderr --tail 50 --search Traceback\n  svc logs train.py --timestamps --since 15m\n  svc logs X8R2QF > train.log',
    )
    .action(showLogs);
}

function parseAge(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError('It must be a number with s, m, h or d, as in 15m.');
  return ms;
}

interface LogsOptions extends JsonOptions {
  readonly follow?: boolean;
  readonly stream?: 'stdout' | 'stderr';
  readonly all?: boolean;
  readonly head?: number;
  readonly tail?: number;
  /** In ms. */
  readonly since?: number;
  readonly timestamps?: boolean;
  readonly attempt?: number;
  readonly search?: string;
}

async function showLogs(reference: string | undefined, options: LogsOptions): Promise<void> {
  const { follow, stream, tail, search, json } = options;
  refuseConflicts(options);
  const client = connect(options);
  const id = await findJob(client, reference);
  const { attempt, status, pending_reason } = await readAttempt(client, id, options.attempt);
  const query = { stream, tail, attempt };
  if (follow) {
    finishRowAtInterrupt();
    return followLogs(client, id, json ? { query, ...AS_JSON } : { query });
  }
  if (isWhole(options)) return printWhole(client, id, { ...options, attempt });
  const page = await client.call(routes.tailLogs, { params: { job_id: id }, query: { ...query, search } });
  print(page, json, toTailLines);
  if (page.dropped > 0) note(`${page.dropped} lines are missing because the queue or the spool was full`);
  if (page.lines.length === 0 && page.partial === undefined && search === undefined && !json)
    note(`no lines yet: the job is ${status}${pending_reason === null ? '' : ` (${pending_reason})`}`);
}

/** Lines that have no end yet are for who looks at it now: they are left out where the output is kept. */
function toTailLines({ lines, partial = [] }: AnswerOf<typeof routes.tailLogs>['body']): string[] {
  const unfinished = process.stdout.isTTY ? partial : [];
  return [...lines.map(({ text }) => text), ...unfinished.map(({ text }) => toPartialText(text))];
}

function refuseConflicts({ follow, search, tail, json, ...options }: LogsOptions): void {
  if (follow && search !== undefined)
    throw new UsageError('--search cannot be used with --follow: it searches the stored lines');
  const ofWhole = (['all', 'head', 'since', 'timestamps'] as const).filter(
    (name) => options[name] !== undefined,
  );
  const others = { follow, search, tail, json };
  const other = Object.entries(others).find(([, value]) => value !== undefined);
  if (ofWhole.length > 0 && other)
    throw new UsageError(`--${ofWhole[0]} cannot be used with --${other[0]}: it reads the whole log`);
}

/** A log in a file or a pipe is never a part of it, unless a part was asked for. */
function isWhole({ all, head, since, timestamps, tail, search, json }: LogsOptions): boolean {
  if (all || timestamps || head !== undefined || since !== undefined) return true;
  return !process.stdout.isTTY && !json && tail === undefined && search === undefined;
}

async function printWhole(
  client: Client,
  jobId: string,
  { attempt, stream, since, timestamps, head }: LogsOptions,
): Promise<void> {
  const from = since === undefined ? undefined : Math.max(0, Date.now() - since);
  const query = { attempt, stream, since: from, timestamps };
  const answer = await client.open(routes.downloadLogs, { params: { job_id: jobId }, query });
  const body = Readable.fromWeb(answer.body as ReadableStream);
  await writeOut(head === undefined ? body : firstLines(body, head));
}

async function* firstLines(body: Readable, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const piece of body as AsyncIterable<Buffer>) {
    let end = 0;
    while (left > 0 && end < piece.length) {
      const newline = piece.indexOf(NEWLINE, end);
      end = newline === -1 ? piece.length : newline + 1;
      if (newline !== -1) left -= 1;
    }
    yield piece.subarray(0, end);
    if (left === 0) return;
  }
}

/** The attempt asked for, or the newest; and how the job does. */
async function readAttempt(client: Client, jobId: string, wanted: number | undefined) {
  const job = await client.call(routes.getJob, { params: { job_id: jobId } });
  return { ...job, attempt: wanted ?? job.attempt };
}

export interface FollowOptions {
  /** `attempt` is required: a reconnect resumes by line number, and each attempt has its own line numbers. */
  readonly query: RouteInput<typeof routes.streamLogs>['query'] & { readonly attempt: number };
  readonly write?: (line: LogLine) => void;
  /** Left out: in the last row of the terminal, if there is one. */
  readonly showPartial?: (partial: PartialLine) => void;
  readonly signal?: AbortSignal;
}

/** Writes each line as it comes, until the attempt is over or `signal` aborts. */
export async function followLogs(client: Client, jobId: string, options: FollowOptions): Promise<void> {
  const { query, write = writeLine, showPartial = setPartial, signal } = options;
  const input = { params: { job_id: jobId }, query };
  const reportOutage = createOutageReporter('log stream');
  const onState = (state: FollowState, error?: unknown): void => {
    if (state === 'waiting') forgetPartials();
    reportOutage(state, error);
  };
  const stream = follow(client, routes.streamLogs, input, { signal, onState });
  try {
    for await (const events of stream) {
      for (const { event, data } of events) {
        if (event === 'message') write(JSON.parse(data) as LogLine);
        if (event === 'partial') showPartial(JSON.parse(data) as PartialLine);
      }
      drawPartial();
    }
  } finally {
    forgetPartials();
  }
}

/** Ctrl-C ends the program as it does without this. */
function finishRowAtInterrupt(): void {
  process.once('SIGINT', () => {
    finishPartial();
    process.kill(process.pid, 'SIGINT');
  });
}

export function writeLine({ stream, text }: LogLine): void {
  erasePartial();
  setPartial({ stream, text: '' });
  process[stream].write(`${text}\n`);
}

const AS_JSON = {
  write: (line: LogLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`),
  showPartial: (): void => {},
};
