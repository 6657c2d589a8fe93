import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ROOT } from './fingerprint.mjs';

/** A failure that one sentence explains: shown without a stack. */
export class Explained extends Error {}

/**
 * Runs a program in the repository's root; resolves with its exit code and output, never rejects.
 */
export function run(program, args, { env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, signal, output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}

/** Runs one of the repository's own tools with this very Node. */
export function runNode(args, options) {
  return run(process.execPath, args, options);
}

/** Whether this module is the program, not an import of another. */
export function isProgram(moduleUrl) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(moduleUrl);
}

/** For a script's last line: `await main(...)` with explained failures as one line. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Explained ? error.message : error);
    process.exitCode = 1;
  }
}

export function secondsSince(startedMs) {
  return `${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
}
