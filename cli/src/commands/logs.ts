import { follow, type Client, type FollowState, type RouteInput } from '@svc/client';
import { LOG_STREAMS, routes, type AnswerOf, type LogLine, type PartialLine } from '@svc/contract';
import { InvalidArgumentError, type Command } from 'commander';
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
import { note, printLines, toRow, toRows, writeOut } from '../output/print.js';
import { parseDuration } from '../output/format.js';
import { connect, withServer, type JsonOptions } from './connected.js';
import { noteEmptyLog } from './empty-log.js';
import { findJob, JOB_REFERENCE } from './find-record.js';
import { parseCount, parseInteger, parseOneOf } from './parse.js';

const NEWLINE = 0x0a;

export function addLogsCommand(program: Command): void {
  withServer(program.command('logs'))
    .description(
      'print the log of a job: the last lines on a terminal; the whole log into a file or a pipe, or with --json',
    )
    .argument('[job]', JOB_REFERENCE)
    .option('-f, --follow', 'keep printing new lines until the attempt ends')
    .option('--stream <stream>', `only this stream: ${LOG_STREAMS.join(', ')}`, parseOneOf(LOG_STREAMS))
    .option('--json', 'print each line as a JSON object in a line of its own')
    .option('--all', 'print the whole log')
    .option('--head <n>', 'number of first lines to print', parseCount)
    .option(
      '--tail <n>',
      'number of last lines to print, at most 2000 (default on a terminal: 200)',
      parseInteger,
    )
    .option('--since <age>', 'only lines written within this time, as in 90s, 15m, 12h or 2d', parseAge)
    .option(
      '--timestamps',
      'print when the agent saw each line, in UTC; lines that were written while the agent was stopped have the time of the last of them',
    )
    .option('--attempt <n>', 'number of the attempt (default: the newest)', parseCount)
    .option('--search <text>', 'only those of the last 2000 lines that contain this text')
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
  refuseConflicts(options);
  const client = connect(options);
  const job_id = await findJob(client, reference);
  const attempt = options.attempt ?? (await client.call(routes.getJob, { params: { job_id } })).attempt;
  const show = options.follow ? followWith : isWhole(options) ? printWhole : printTail;
  const isEmpty = await show(client, job_id, { ...options, attempt });
  if (isEmpty && !isFiltered(options)) await noteEmptyLog(client, { job_id, attempt });
}

function isFiltered({ stream, since, search, tail }: LogsOptions): boolean {
  return tail === 0 || [stream, since, search].some((filter) => filter !== undefined);
}

type OfAttempt = LogsOptions & { readonly attempt: number };

/** Shows the log or a part of it. True: there was nothing to show. */
type Show = (client: Client, jobId: string, options: OfAttempt) => Promise<boolean>;

const printTail: Show = async (client, job_id, options) => {
  const { stream, tail, search, attempt } = options;
  const query = { stream, tail, search, attempt };
  const page = await client.call(routes.tailLogs, { params: { job_id }, query });
  printLines(toTailLines(page, options));
  if (page.dropped > 0) note(`${page.dropped} lines are missing because the queue or the spool was full`);
  return page.lines.length === 0 && page.dropped === 0 && page.partial === undefined;
};

/** Lines that have no end yet are for who looks at it now: they are left out where the output is kept. */
function toTailLines(
  { lines, partial = [] }: AnswerOf<typeof routes.tailLogs>['body'],
  options: LogsOptions,
): string[] {
  const unfinished = process.stdout.isTTY && !options.json ? partial : [];
  return [
    ...lines.map((line) => toRow(toShownLine(line, options), 'stdout')),
    ...unfinished.map(({ text }) => toPartialText(text)),
  ];
}

function toShownLine(line: LogLine, { json, timestamps }: LogsOptions): string {
  if (json) return JSON.stringify(line);
  return timestamps ? `${new Date(line.ts).toISOString()} ${line.text}` : line.text;
}

const PART = ['head', 'tail', 'since', 'search'] as const;

function refuseConflicts({ follow, ...options }: LogsOptions): void {
  const given = PART.filter((name) => options[name] !== undefined);
  const refuse = (one: string, other: string, why: string): never => {
    throw new UsageError(`--${one} cannot be used with --${other}: ${why}`);
  };
  for (const name of given.filter((name) => name !== 'tail'))
    if (follow) refuse(name, 'follow', 'it reads the stored lines');
  if (options.all && given[0]) refuse('all', given[0], 'that is a part of the log');
  const ofTail = given.find((name) => name === 'tail' || name === 'search');
  const ofWhole = given.find((name) => name === 'head' || name === 'since');
  if (ofTail && ofWhole) refuse(ofWhole, ofTail, 'that reads the last lines alone');
}

/** What a file, a pipe or a program gets is never a part of the log, unless a part was asked for. */
function isWhole({ all, head, since, tail, search, json }: LogsOptions): boolean {
  if (tail !== undefined || search !== undefined) return false;
  return all || json || head !== undefined || since !== undefined || !process.stdout.isTTY;
}

const followWith: Show = async (client, jobId, options) => {
  const { stream, tail, attempt, json } = options;
  const query = { stream, attempt, ...(isWhole(options) ? { from: 0 } : { tail }) };
  let isEmpty = true;
  const write = (line: LogLine): void => {
    isEmpty = false;
    const text = toShownLine(line, options);
    if (json) printLines([toRow(text, 'stdout')]);
    else writeLine({ ...line, text });
  };
  finishRowAtInterrupt();
  await followLogs(client, jobId, { query, write, ...(json && { showPartial: () => {} }) });
  return isEmpty;
};

const printWhole: Show = async (client, jobId, options) => {
  const { attempt, stream, since, timestamps, head, json } = options;
  const from = since === undefined ? undefined : Math.max(0, Date.now() - since);
  const format = json ? 'jsonl' : 'text';
  const query = { attempt, stream, since: from, timestamps, format } as const;
  const answer = await client.open(routes.downloadLogs, { params: { job_id: jobId }, query });
  const body = Readable.fromWeb(answer.body as ReadableStream);
  const pieces = head === undefined ? body : firstLines(body, head);
  return (await writeOut(toRows(pieces, 'stdout'))) === 0;
};

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
  process[stream].write(`${toRow(text, stream)}\n`);
}
