import { isMissing } from '@svc/agent/durable-file';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** What was to be started where. */
export interface StartOrder {
  readonly command: readonly string[];
  readonly cwd: string;
}

/** Why it could not be started, in words. A program fails to start with one code for several causes: looks which it was, as who we are now. */
export function explainStartFailure(error: NodeJS.ErrnoException, order: StartOrder): string {
  const program = order.command[0] ?? '';
  if (error.syscall === 'open')
    return `${error.path ?? 'a file'} cannot be written (${error.code ?? error.message})`;
  const trouble = findWorkingDirTrouble(order.cwd);
  if (trouble !== null) return trouble;
  if (error.code === 'ENOENT') return explainMissing(program, order);
  if (error.code === 'EACCES') return `permission denied: ${program} cannot be executed`;
  if (error.code === 'E2BIG') return 'the command and its environment are too long for the system';
  return `${program} could not be started (${error.code ?? error.message})`;
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

function explainMissing(program: string, order: StartOrder): string {
  if (!program.includes('/')) return `program ${program} was not found in PATH`;
  const file = path.resolve(order.cwd, program);
  try {
    statSync(file);
  } catch {
    return `program ${file} does not exist`;
  }
  return `program ${file} names an interpreter that does not exist`;
}
