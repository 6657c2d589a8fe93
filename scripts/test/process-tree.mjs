// The processes that a test process has started, also those that have left its group or lost their parent.
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';

/** A variable that every process inherits, a job too: it tells whose the process is. */
const MARK = 'TEST_PROCESS_MARK';
const KILL_PASSES = 100;
const PASS_MS = 50;

export function newMark() {
  return { [MARK]: randomUUID() };
}

/** The living processes with the mark, with all that they have started: [{pid, command}]. Only where there is /proc. */
export function processesWith(mark) {
  const all = livingProcesses();
  const entry = `${MARK}=${mark[MARK]}`;
  const found = new Set(all.filter(({ pid }) => environmentOf(pid).includes(entry)).map(({ pid }) => pid));
  for (let known = -1; known !== found.size;) {
    known = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** Resolves when none of them is left; what is started meanwhile is found in the next pass. */
export async function killAllWith(mark) {
  for (let pass = 0; pass < KILL_PASSES; pass += 1) {
    const living = processesWith(mark);
    if (living.length === 0) return;
    for (const { pid } of living) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, PASS_MS));
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function livingProcesses() {
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => statusOf(Number(pid))).filter((found) => found !== null);
}

function statusOf(pid) {
  // pid (name) state parent ...; the name may hold spaces and brackets.
  const stat = textOf(`/proc/${pid}/stat`);
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (stat === '' || state === 'Z' || state === 'X') return null;
  return {
    pid,
    parent: Number(parent),
    state,
    command: textOf(`/proc/${pid}/cmdline`).split('\0').join(' ').trim(),
  };
}

function environmentOf(pid) {
  return textOf(`/proc/${pid}/environ`).split('\0');
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
