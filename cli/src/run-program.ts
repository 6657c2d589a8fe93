import { Command, CommanderError } from 'commander';
import { Failure, UsageError } from './failure.js';
import { createPaint } from './output/style.js';
import { VERSION } from './version.js';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** The program without its commands. */
export function createBareProgram(): Command {
  return new Command('svc')
    .description('training jobs on GPU hosts: submit, watch, cancel, read logs and curves')
    .version(VERSION)
    .showHelpAfterError('(svc --help, or svc COMMAND --help, says how)')
    .exitOverride();
}

/** Runs the command line and sets the exit status: 0 done, 1 failed, 2 wrong usage, or what the command itself set. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<void> {
  endQuietlyWhenNobodyReads();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // commander has said it already; help and version are its errors too, with status 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
  const paint = createPaint(process.stderr);
  process.stderr.write(`${paint('red', 'svc:')} ${toSentence(error)}\n`);
  return error instanceof UsageError ? WRONG_USAGE : FAILED;
}

/** What is meant for people is one line; anything else is a defect and keeps its stack. */
function toSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMeant = error instanceof Failure || error instanceof UsageError || error.name === 'BootError';
  return isMeant ? error.message : (error.stack ?? error.message);
}

/** `svc logs ID | head`: the reader has gone, which is no failure. */
function endQuietlyWhenNobodyReads(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? DONE);
  });
}
