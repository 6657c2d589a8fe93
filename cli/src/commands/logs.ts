import { ApiError, follow, type Client, type FollowState, type RouteInput } from '@svc/client';
import { routes, type LogLine } from '@svc/contract';
import { Option, type Command } from 'commander';
import { toSentence } from '../output/api-error.js';
import { UsageError } from '../failure.js';
import { note, print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { parseInteger } from './parse.js';

export function addLogsCommand(program: Command): void {
  withJson(program.command('logs'))
    .description('print the log of a job')
    .argument('<id>', 'job id')
    .option('-f, --follow', 'keep printing new lines until the attempt ends')
    .addOption(new Option('--stream <stream>', 'print only this stream').choices(['stdout', 'stderr']))
    .option('--tail <n>', 'number of last lines to print, at most 2000', parseInteger)
    .option('--attempt <n>', 'number of the attempt (default: the newest)', parseInteger)
    .option('--search <text>', 'print only lines that contain this text')
    .addHelpText(
      'after',
      '\nExamples:\n  svc logs job_01JD3Y6V6T3V5YJ6M0W3X8R2QF -f\n  svc logs job_01JD3Y6V6T3V5YJ6M0W3X8R2QF --stream stderr --tail 50 --search Traceback',
    )
    .action(showLogs);
}

interface LogsOptions extends JsonOptions {
  readonly follow?: boolean;
  readonly stream?: 'stdout' | 'stderr';
  readonly tail?: number;
  readonly attempt?: number;
  readonly search?: string;
}

async function showLogs(id: string, options: LogsOptions): Promise<void> {
  const { follow, stream, tail, attempt, search, json } = options;
  const client = connect(options);
  const query = { stream, tail, attempt };
  if (follow) {
    if (search !== undefined)
      throw new UsageError('--search cannot be used with --follow: it searches the stored lines');
    const pinned = { ...query, attempt: attempt ?? (await readAttempt(client, id)) };
    await followLogs(client, id, { query: pinned, write: json ? writeAsJson : writeLine });
    return;
  }
  const page = await client.call(routes.tailLogs, {
    params: { job_id: id },
    query: { ...query, search },
  });
  print(page, json, ({ lines }) => lines.map(({ text }) => text));
  if (page.dropped > 0) note(`${page.dropped} lines are missing because the queue or the spool was full`);
}

async function readAttempt(client: Client, jobId: string): Promise<number> {
  return (await client.call(routes.getJob, { params: { job_id: jobId } })).attempt;
}

export interface FollowOptions {
  /** `attempt` is required: a reconnect resumes by line number, and each attempt has its own line numbers. */
  readonly query: RouteInput<typeof routes.streamLogs>['query'] & { readonly attempt: number };
  readonly write?: (line: LogLine) => void;
  readonly signal?: AbortSignal;
}

/** Writes each line as it comes, until the attempt is over or `signal` aborts. */
export async function followLogs(client: Client, jobId: string, options: FollowOptions): Promise<void> {
  const { query, write = writeLine, signal } = options;
  const input = { params: { job_id: jobId }, query };
  const stream = follow(client, routes.streamLogs, input, { signal, onState: createOutageReporter() });
  for await (const events of stream) for (const { data } of events) write(JSON.parse(data) as LogLine);
}

/** Prints once for each outage why the stream was lost. */
function createOutageReporter(): (state: FollowState, error?: unknown) => void {
  let isReported = false;
  return (state, error) => {
    if (state === 'live') isReported = false;
    if (state !== 'waiting' || error === undefined || isReported) return;
    isReported = true;
    const reason = error instanceof ApiError ? toSentence(error) : (error as Error).message;
    note(`the log stream was lost (${reason}); reconnecting`);
  };
}

export function writeLine({ stream, text }: LogLine): void {
  process[stream].write(`${text}\n`);
}

function writeAsJson(line: LogLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
