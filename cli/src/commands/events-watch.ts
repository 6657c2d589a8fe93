import { findCommandRemedy } from '@svc/agent/command-remedy';
import { follow, type Client } from '@svc/client';
import { ID_PREFIXES, routes, type EventRecord } from '@svc/contract';
import type { Command } from 'commander';
import { Failure, UsageError } from '../failure.js';
import { stopSignal } from '../lifetime.js';
import { toTime } from '../output/format.js';
import { createOutageReporter } from '../output/outage.js';
import { note, printLines } from '../output/print.js';
import { createPaint, styleOfSeverity } from '../output/style.js';
import { toPlainText } from '../output/table.js';
import { isStartable } from '../program-on-path.js';
import { connect, withServer, type JsonOptions } from './connected.js';
import { toEventQuery, withFilters, type EventFilters } from './event-filters.js';
import { EventPlace } from './event-place.js';
import { EventPrograms } from './event-programs.js';
import { parseCount } from './parse.js';

const TIMEOUT_S = 600;
/** The completion offers no job for it. */
const parseJobs = Object.assign(parseCount, { choices: [] });

export function addEventsWatchCommand(events: Command): void {
  withServer(withFilters(events.command('watch')))
    .description('print events as they happen, or run a program for each of them')
    .usage('[options] [--exec CMD [ARG...]]')
    .argument('[command...]', 'program of --exec and its arguments; options of svc come before them')
    .passThroughOptions()
    .option('--json', 'print each event as a JSON object in a line of its own')
    .option(
      '--exec',
      'run CMD for each event, one after another, without a shell, with the event as JSON on its standard input and its fields in SVC_EVENT_ID, SVC_EVENT_TYPE, SVC_EVENT_SEVERITY, SVC_EVENT_TITLE and so on',
    )
    .option('--shell', 'CMD of --exec is a command line of the shell')
    .option('--jobs <n>', 'how many programs of --exec may run at the same time (default: 1)', parseJobs)
    .option(
      '--timeout <seconds>',
      `end a program of --exec that takes longer, with all that it has started (default: ${TIMEOUT_S})`,
      parseCount,
    )
    .option(
      '--state <file>',
      'remember in this file which events are handled, and go on there at the next start; only what was in work when the watch was ended comes again',
    )
    .addHelpText(
      'after',
      '\nIt reconnects when the connection is lost, and goes on behind the last event. A program that fails is reported, and the next event gets one all the same.\n\nExamples:\n  svc events watch --severity critical\n  svc events watch --type OOM --exec python3 notify.py --channel training\n  svc events watch --state notify.state --exec ./notify.sh\n  svc events watch --severity critical --jobs 4 --timeout 30 --exec --shell \'mail -s "$SVC_EVENT_TITLE" me@example.org\'',
    )
    .action(watchEvents);
}

interface WatchOptions extends JsonOptions, EventFilters {
  readonly exec?: boolean;
  readonly shell?: boolean;
  readonly jobs?: number;
  readonly timeout?: number;
  readonly state?: string;
}

async function watchEvents(command: readonly string[], options: WatchOptions): Promise<void> {
  checkUsage(command, options);
  const client = connect(options);
  const query = await toEventQuery(client, options);
  const place = await EventPlace.open(options.state ?? null, () => findLastEvent(client));
  if (!options.exec)
    return watch(client, query, {
      place,
      take(json, id) {
        show(json, options.json);
        place.end(id);
      },
    });
  const signal = stopSignal();
  const { shell: isShell = false, jobs = 1, timeout = TIMEOUT_S } = options;
  const handled = (id: string): void => place.end(id);
  const programs = new EventPrograms({ command, isShell, jobs, timeoutMs: timeout * 1000, signal, handled });
  await watch(client, query, { place, signal, take: (json) => programs.start(json) });
  await programs.settled();
}

function checkUsage(command: readonly string[], { exec, shell, jobs, timeout }: WatchOptions): void {
  if (exec && command.length === 0)
    throw new UsageError('--exec needs the program to run, as its last option');
  if (!exec && command.length > 0)
    throw new UsageError(`to run ${command[0]} for each event, write --exec before it`);
  if (!exec && (shell || jobs !== undefined || timeout !== undefined))
    throw new UsageError('--shell, --jobs and --timeout are about the program of --exec');
  if (exec && !shell) requireProgram(command[0] ?? '');
}

/** The last published event, so that what happens until the stream is open is replayed; the least id when there is none yet. */
async function findLastEvent(client: Client): Promise<string> {
  const answer = await client.open(routes.streamEvents, { query: {} });
  await answer.body?.cancel();
  return answer.headers.get('last-event-id') ?? ID_PREFIXES.event.padEnd(ID_PREFIXES.event.length + 26, '0');
}

interface Watch {
  readonly place: EventPlace;
  readonly signal?: AbortSignal;
  take(json: string, id: string): void | Promise<void>;
}

async function watch(
  client: Client,
  query: Awaited<ReturnType<typeof toEventQuery>>,
  { place, signal, take }: Watch,
): Promise<void> {
  const onState = createOutageReporter('event stream');
  const options = { lastEventId: place.after, signal, onState };
  if (process.stderr.isTTY) note('watching for events; Ctrl-C ends it');
  for await (const news of follow(client, routes.streamEvents, { query }, options))
    for (const { id, data } of news) {
      if (signal?.aborted) return;
      if (id !== null && place.begin(id)) await take(data, id);
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

function show(json: string, isJson = false): void {
  printLines([isJson ? json : toLine(JSON.parse(json) as EventRecord)]);
}

function toLine({ created_at, severity, type, title, id }: EventRecord): string {
  const paint = createPaint(process.stdout);
  const style = styleOfSeverity(severity);
  const shown = style === null ? severity : paint(style, severity);
  return `${toTime(created_at)}  ${shown}  ${type}  ${toPlainText(title)}  ${paint('dim', id)}`;
}
