import { findCommandRemedy } from '@svc/agent/command-remedy';
import { follow } from '@svc/client';
import { routes, type EventRecord } from '@svc/contract';
import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Failure, UsageError } from '../failure.js';
import { toTime } from '../output/format.js';
import { createOutageReporter } from '../output/outage.js';
import { note, printLines } from '../output/print.js';
import { createPaint, styleOfSeverity } from '../output/style.js';
import { toPlainText } from '../output/table.js';
import { isStartable } from '../program-on-path.js';
import { connect, withServer, type JsonOptions } from './connected.js';
import { toEventQuery, withFilters, type EventFilters } from './event-filters.js';

/** A program that takes longer is killed, so that one that hangs does not hold back every later event. */
const PROGRAM_LIMIT_MS = 10 * 60_000;

export function addEventsWatchCommand(events: Command): void {
  withServer(withFilters(events.command('watch')))
    .description('print events as they happen, or run a program for each of them')
    .usage('[options] [--exec CMD [ARG...]]')
    .argument('[command...]', 'program of --exec and its arguments; options of svc come before them')
    .passThroughOptions()
    .option('--json', 'print each event as a JSON object in a line of its own')
    .option(
      '--exec',
      'run CMD for each event, one after another, without a shell and with the event as JSON on its standard input',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc events watch --severity critical\n  svc events watch --type OOM --exec python3 notify.py --channel training',
    )
    .action(watchEvents);
}

interface WatchOptions extends JsonOptions, EventFilters {
  readonly exec?: boolean;
}

async function watchEvents(command: readonly string[], options: WatchOptions): Promise<void> {
  if (options.exec && command.length === 0)
    throw new UsageError('--exec needs the program to run, as its last option');
  if (!options.exec && command.length > 0)
    throw new UsageError(`to run ${command[0]} for each event, write --exec before it`);
  if (options.exec) requireProgram(command[0] ?? '');
  const client = connect(options);
  const query = await toEventQuery(client, options);
  // What happens until the stream is open is replayed.
  const { items } = await client.call(routes.listEvents, { query: { limit: 1 } });
  const lastEventId = items[0]?.id ?? null;
  const onState = createOutageReporter('event stream');
  const stream = follow(client, routes.streamEvents, { query }, { lastEventId, onState });
  if (process.stderr.isTTY) note('watching for events; Ctrl-C ends it');
  for await (const news of stream)
    for (const { data } of news) {
      if (options.exec) await runFor(data, command);
      else printLines([options.json ? data : toLine(JSON.parse(data) as EventRecord)]);
    }
}

/** Throws Failure for one that could not be started at the first event. */
function requireProgram(program: string): void {
  const directory = process.cwd();
  if (isStartable(program, directory)) return;
  const remedy = findCommandRemedy(program, directory);
  const what = program.includes('/') ? 'is no file that can be executed' : 'is no program on the PATH';
  throw new Failure(`--exec: ${program} ${what}${remedy === null ? '' : `: ${remedy}`}`);
}

function toLine({ created_at, severity, type, title, id }: EventRecord): string {
  const paint = createPaint(process.stdout);
  const style = styleOfSeverity(severity);
  const shown = style === null ? severity : paint(style, severity);
  return `${toTime(created_at)}  ${shown}  ${type}  ${toPlainText(title)}  ${paint('dim', id)}`;
}

/** A program that fails is reported and does not end the watch; one that cannot be started does. */
async function runFor(event: string, [program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const limit = setTimeout(() => child.kill('SIGKILL'), PROGRAM_LIMIT_MS);
  // A program need not read the event.
  child.stdin.on('error', () => undefined).end(`${event}\n`);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    const { id } = JSON.parse(event) as EventRecord;
    if (code !== 0) note(`${program} ended with ${signal ?? `exit code ${code}`} for ${id}`);
  } catch (cause) {
    throw new Failure(`${program} cannot be started: ${(cause as Error).message}`, { cause });
  } finally {
    clearTimeout(limit);
  }
}
