import { findCommandRemedy } from '@svc/agent/command-remedy';
import { isMissing } from '@svc/agent/durable-file';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** What was to be started where. */
export interface StartOrder {
  readonly command: readonly string[];
  readonly cwd: string;
}

/** Why a process could not be started, in words. */
export interface StartFailure {
  readonly reason: string;
  /** What to do about it; null: the reason says it. */
  readonly remedy: string | null;
}

/** A program fails to start with one code for several causes: looks which it was, as who we are now. */
export function explainStartFailure(error: NodeJS.ErrnoException, order: StartOrder): StartFailure {
  const program = order.command[0] ?? '';
  const cause = error.code ?? error.message;
  if (error.syscall === 'open') return because(`${error.path ?? 'a file'} cannot be written (${cause})`);
  const trouble = findWorkingDirTrouble(order.cwd);
  if (trouble !== null) return because(trouble);
  if (error.code === 'ENOENT') return explainMissing(program, order);
  if (error.code === 'EACCES')
    return because(`permission denied: ${program} cannot be executed`, findCommandRemedy(program, order.cwd));
  if (error.code === 'E2BIG') return because('the command and its environment are too long for the system');
  return because(`${program} could not be started (${cause})`);
}

function because(reason: string, remedy: string | null = null): StartFailure {
  return { reason, remedy };
}

function findWorkingDirTrouble(cwd: string): string | null {
  try {
    if (!statSync(cwd).isDirectory()) return `working_dir ${cwd} is not a directory`;
    accessSync(cwd, constants.X_OK);
    return null;
  } catch (error) {
    return isMissing(error)
      ? `working_dir ${cwd} does not exist`
      : `permission denied: working_dir ${cwd} cannot be entered`;
  }
}

function explainMissing(program: string, { cwd }: StartOrder): StartFailure {
  if (!program.includes('/'))
    return because(`program ${program} was not found in PATH`, findCommandRemedy(program, cwd));
  const file = path.resolve(cwd, program);
  try {
    statSync(file);
  } catch {
    return because(`program ${file} does not exist`, findCommandRemedy(program, cwd));
  }
  return because(`program ${file} names an interpreter that does not exist`);
}
