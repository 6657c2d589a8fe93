import { isExecutable } from '@svc/agent/command-remedy';
import path from 'node:path';

export function isOnPath(program: string, searched = process.env['PATH'] ?? ''): boolean {
  return searched.split(path.delimiter).some((folder) => isExecutable(path.join(folder, program)));
}

/** Whether it is there to be executed: by its path, as seen from the directory, or on the PATH. */
export function isStartable(program: string, directory: string, searched?: string): boolean {
  return program.includes('/') ? isExecutable(path.resolve(directory, program)) : isOnPath(program, searched);
}
