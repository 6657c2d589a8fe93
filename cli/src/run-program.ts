import { ApiError } from '@svc/client';
import { withoutDirection } from '@svc/contract/protocol';
import { Command, CommanderError, Help } from 'commander';
import { Failure, UsageError } from './failure.js';
import { toSentence as toApiSentence } from './output/api-error.js';
import { createPaint } from './output/style.js';
import { VERSION } from './version.js';

/** By name: an agent never loads the kernel. */
const KERNEL_ERRORS_FOR_USER = ['BootError', 'HttpError'];
export const SERVER_OPTIONS = 'Server options:';
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** The program without its commands. */
export function createBareProgram(): Command {
  return (
    new Command('svc')
      .description('submit training jobs to GPU hosts, follow them, and read their logs and metrics')
      .version(VERSION, '-V, --version', 'print the version')
      .helpOption('-h, --help', 'show this help')
      .helpCommand('help [command]', 'show the help of a command')
      .showHelpAfterError('(see svc --help or svc COMMAND --help)')
      // So that the options of a command that is submitted stay its own.
      .enablePositionalOptions()
      .configureHelp({ groupItems: toGroups })
      .exitOverride()
  );
}

/** The options of the command itself come first. */
const toGroups: Help['groupItems'] = (unsorted, visible, groupOf) => {
  const groups = Help.prototype.groupItems(unsorted, visible, groupOf);
  const ofServer = groups.get(SERVER_OPTIONS);
  if (ofServer && groups.delete(SERVER_OPTIONS)) groups.set(SERVER_OPTIONS, ofServer);
  return groups;
};

/** For the program itself: runs the command line and sets the exit status. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<void> {
  exitOnClosedStdout();
  const status = await execute(program, argv);
  if (status !== DONE) process.exitCode = status;
}

/** Resolves with 0 done, 1 failed or 2 wrong usage; what is wrong has been said on stderr. */
export async function execute(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...argv]);
    return DONE;
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  // commander has printed the message; help and version are CommanderErrors with status 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
  const paint = createPaint(process.stderr);
  process.stderr.write(`${paint('red', 'svc:')} ${withoutDirection(toSentence(error))}\n`);
  return error instanceof UsageError ? WRONG_USAGE : FAILED;
}

/** An error that is meant for the user is one line; any other is a defect and is shown with its stack. */
function toSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ApiError) return toApiSentence(error);
  const isForUser = error instanceof Failure || error instanceof UsageError;
  return isForUser || KERNEL_ERRORS_FOR_USER.includes(error.name)
    ? error.message
    : (error.stack ?? error.message);
}

/** `svc logs ID | head`: that the reader has closed the pipe is not an error. */
function exitOnClosedStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? DONE);
  });
}
