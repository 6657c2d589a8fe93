import { ApiError, type Client } from '@svc/client';
import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../failure.js';
import { stopSignal } from '../lifetime.js';
import { toSentence } from '../output/api-error.js';
import { print } from '../output/print.js';
import { createPaint } from '../output/style.js';
import { terminalWidth } from '../output/table.js';
import { toLines } from '../output/text-width.js';
import { toFrame } from '../top/frame.js';
import { readActivity } from '../top/read-activity.js';
import { Screen } from '../top/screen.js';
import { connect, withJson, type JsonOptions } from './connected.js';

const REDRAW_MS = 2000;

export function addTopCommand(program: Command): void {
  withJson(program.command('top'))
    .description(
      'show nodes with their slots, running jobs and waiting jobs, redrawn every 2 s until q or Ctrl-C',
    )
    .option('--once', 'print it once, whole')
    .addHelpText('after', '\nExamples:\n  svc top\n  svc top --once > now.txt')
    .action(showTop);
}

async function showTop({ once, ...options }: JsonOptions & { once?: boolean }): Promise<void> {
  const client = connect(options);
  if (once || options.json)
    return print(await readActivity(client), options.json, (activity, paint) =>
      toFrame(activity, Infinity, paint),
    );
  if (!process.stdout.isTTY) throw new UsageError('svc top needs a terminal; --once prints one frame');
  await watch(client);
}

/** Whatever happens, the terminal is given back as it was. */
async function watch(client: Client): Promise<void> {
  const first = await readActivity(client);
  const quit = new AbortController();
  const stopped = AbortSignal.any([quit.signal, stopSignal()]);
  const screen = new Screen(() => quit.abort());
  const paint = createPaint(process.stdout);
  let activity = first;
  let trouble: readonly string[] = [];
  const redraw = (): void => {
    const head = trouble
      .flatMap((line) => toLines(line.split(' '), ' ', terminalWidth()))
      .map((line) => paint('red', line));
    screen.show([...head, ...toFrame(activity, screen.rows - head.length, paint)]);
  };
  process.stdout.on('resize', redraw);
  try {
    while (!stopped.aborted) {
      redraw();
      await delay(REDRAW_MS, undefined, { signal: stopped }).catch(() => undefined);
      if (stopped.aborted) break;
      try {
        activity = await readActivity(client);
        trouble = [];
      } catch (error) {
        if (!(error instanceof ApiError) || error.isFinal) throw error;
        trouble = toTroubleLines(error);
      }
    }
  } finally {
    process.stdout.off('resize', redraw);
    screen.close();
  }
}

/** Two lines, because the reason may end with a command. */
export function toTroubleLines(error: ApiError): string[] {
  return [toSentence(error), 'What follows is what the server said last.'];
}
