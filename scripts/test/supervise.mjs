// Runs a test process to a deadline: shows that it lives, asks it what it does when it is late, and ends all that it has started.
import { spawn } from 'node:child_process';
import { ROOT } from '../fingerprint.mjs';
import { killAllWith, newMark, processesWith } from './process-tree.mjs';

const SIGN_OF_LIFE_MS = 60_000;
/** What a test process has told to end may take this long to be gone. */
const LEAVING_MS = 5_000;
const SHOWN_CHARACTERS = 160;

/**
 * Resolves with {code, output, faults}. `lastTest` names the test that runs; `describe` answers, in lines, what the process does.
 * Its output is shown, or collected when it is to be `quiet`.
 */
export async function supervise(name, program, args, { env, quiet = false, limitMs, lastTest, describe }) {
  const mark = newMark();
  const startedMs = Date.now();
  const faults = [];
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...env, ...mark },
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  const output = collect(child);
  const sign = setInterval(() => {
    console.log(`  … ${name}: ${minutes(Date.now() - startedMs)} min${at(lastTest)}`);
  }, SIGN_OF_LIFE_MS);
  const deadline = setTimeout(async () => {
    faults.push(`it was not over after ${minutes(limitMs)} min and was killed${at(lastTest)}`);
    await tellWhatItDoes(name, child, mark, describe);
    const killed = killAllWith(mark);
    child.kill('SIGKILL');
    await killed;
  }, limitMs);
  const code = await ended(child);
  clearInterval(sign);
  clearTimeout(deadline);
  if (faults.length === 0) faults.push(...(await whatIsLeft(mark)));
  await killAllWith(mark);
  return { code, output: await output, faults };
}

function at(lastTest) {
  const test = lastTest?.();
  return test ? `, at: ${test}` : '';
}

/** All that was written, once nobody can write any more. */
function collect(child) {
  const chunks = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  child.stderr?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** Its exit alone: what it left behind may hold its output open. */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function tellWhatItDoes(name, child, mark, describe) {
  const processes = processesWith(mark).map(
    ({ pid, state, command }) => `${pid} ${state} ${shorten(command)}`,
  );
  const lines = await describe(child.pid).catch(() => []);
  console.log([`✗ ${name} does not end`, 'its processes:', ...processes, ...lines].join('\n    '));
}

/** Sentences; what is about to end is waited for. */
async function whatIsLeft(mark) {
  const deadline = Date.now() + LEAVING_MS;
  let left = processesWith(mark);
  while (left.length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    left = processesWith(mark);
  }
  return left.map(({ pid, command }) => `it left a process behind: ${pid} ${shorten(command)}`);
}

function shorten(command) {
  return command.length > SHOWN_CHARACTERS ? `${command.slice(0, SHOWN_CHARACTERS)}…` : command;
}

function minutes(ms) {
  return Number((ms / 60_000).toFixed(1));
}
