import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** By the extension of a script. */
const INTERPRETERS: Readonly<Record<string, string>> = { '.py': 'python3', '.sh': 'sh' };

/** What to write in place of a program that is not on the PATH, or cannot be executed, in this directory; null: that is unknown. */
export function findCommandRemedy(program: string, directory: string): string | null {
  const file = path.resolve(directory, program);
  if (isFile(file)) return remedyForFile(program, file);
  if (/\s/.test(program))
    return 'leave out the quotes around the command: the program and each argument are words of their own';
  return program === 'python' ? 'write python3' : null;
}

function remedyForFile(program: string, file: string): string {
  const interpreter = INTERPRETERS[path.extname(program)];
  const executable = program.includes('/') ? program : `./${program}`;
  const direct = isExecutable(file) ? executable : `${executable} after chmod +x ${program}`;
  return `write ${interpreter === undefined ? '' : `${interpreter} ${program}, or `}${direct}`;
}

function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
