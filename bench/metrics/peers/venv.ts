import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'svc-bench');

export interface Venv {
  /** Its `bin` folder. */
  readonly bin: string;
  readonly version: string;
}

/** The peer in a Python environment of its own, outside the repository, made on the first call. Throws with what pip said. */
export async function ensureVenv(name: string): Promise<Venv> {
  const dir = path.join(CACHE, name);
  const bin = path.join(dir, 'bin');
  if (!existsSync(path.join(dir, 'installed'))) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(CACHE, { recursive: true });
    await run('python3', ['-m', 'venv', dir]);
    await run(path.join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', name]);
    mkdirSync(path.join(dir, 'installed'));
  }
  const { stdout } = await run(path.join(bin, 'python'), ['-m', 'pip', 'show', name]);
  return { bin, version: /^Version: (\S+)$/m.exec(stdout)?.[1] ?? 'unknown' };
}
