import { findCommandRemedy } from '@svc/agent/command-remedy';
import { isStartable } from '../program-on-path.js';

/** Why a command that runs in this directory of this host will hardly start, and what to write instead; null: nothing speaks against it. */
export function findDoubt(program: string, directory: string, searched?: string): string | null {
  const remedy = isStartable(program, directory, searched) ? null : findCommandRemedy(program, directory);
  if (remedy === null) return null;
  const what = program.includes('/') ? 'cannot be executed' : 'is no program on the PATH';
  return `${program} ${what} here, so the job may fail: ${remedy}`;
}
