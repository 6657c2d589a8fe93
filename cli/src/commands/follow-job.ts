import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isTerminal, JUST_QUEUED, RETRIED_REASONS, routes, type Job, type LogLine } from '@svc/contract';
import { ApiError, type Client } from '@svc/client';
import { toFailureWords } from '../output/failure-words.js';
import { toDuration } from '../output/format.js';
import { note } from '../output/print.js';
import { createPaint, styleOfStatus } from '../output/style.js';
import { followLogs, writeLine } from './logs.js';
import { readNodeNames } from './node-names.js';

const POLL_MS = 1_000;
/** Between the end of the log and the end of the job. */
const QUICK_POLL_MS = 100;
/** How long an ended job's log may be silent without having ended itself (its host may be gone). */
const LOG_SILENCE_MS = 10_000;
/** Longer than a scheduler takes to queue a job for its next attempt. */
const RETRY_PATIENCE_MS = 15_000;
const RETRIED: ReadonlySet<Job['failure_reason']> = new Set(RETRIED_REASONS);
const INTERRUPTED = 130;

/**
 * Prints the log of every attempt and, on stderr, each change of state, until the job has ended; resolves with the exit
 * status that tells how. Ctrl-C detaches: the job goes on.
 */
export async function followJob(client: Client, job: Job): Promise<number> {
  const detach = new AbortController();
  const onInterrupt = (): void => detach.abort();
  process.once('SIGINT', onInterrupt);
  try {
    const ended = await watchJob(client, job, detach.signal);
    if (ended !== null) return toExitStatus(ended);
    note(
      `\ndetached; ${job.id} continues. To follow it again: svc logs -f ${job.id}; to cancel it: svc cancel ${job.id}`,
    );
    return INTERRUPTED;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** The job as it ended, or null when `signal` aborted first. */
async function watchJob(client: Client, submitted: Job, signal: AbortSignal): Promise<Job | null> {
  const report = createStatusReporter(client);
  let job = submitted;
  let log = openLog(client, job, signal);
  for (;;) {
    if (job.attempt !== log.attempt) {
      await log.drained();
      log = openLog(client, job, signal);
    }
    if (isTerminal(job.status) && !(await isRetried(client, job, signal))) break;
    await report(job);
    if (!isTerminal(job.status)) await log.endOrPause(signal);
    if (signal.aborted) return null;
    job = await readJob(client, job);
  }
  await log.drained();
  if (signal.aborted) return null;
  await report(job);
  return job;
}

/** Whether the server queues the job again by itself, which it does soon after the end of an attempt. */
async function isRetried(client: Client, ended: Job, signal: AbortSignal): Promise<boolean> {
  const { status, failure_reason, attempt, max_attempts } = ended;
  const isDue = status === 'FAILED' && attempt < max_attempts && RETRIED.has(failure_reason);
  const untilMs = Date.now() + RETRY_PATIENCE_MS;
  while (isDue && Date.now() < untilMs && !signal.aborted) {
    const job = await readJob(client, ended);
    if (job.attempt !== attempt || job.status !== status) return true;
    await pause(QUICK_POLL_MS, signal);
  }
  return false;
}

/** The live log of the job's current attempt, printed as it comes. */
function openLog(client: Client, job: Job, detached: AbortSignal) {
  const giveUp = new AbortController();
  const signal = AbortSignal.any([detached, giveUp.signal]);
  let lastLineMs = Date.now();
  let isOver = false;
  const write = (line: LogLine): void => {
    lastLineMs = Date.now();
    writeLine(line);
  };
  const over = followLogs(client, job.id, {
    query: { attempt: job.attempt, from: 0 },
    write,
    signal,
  }).finally(() => {
    isOver = true;
  });
  // Callers that await it get the failure; until then it must not count as unhandled.
  over.catch(() => undefined);
  return {
    attempt: job.attempt,
    /** Returns when the log ends, or when the job is to be read again. */
    async endOrPause(stop: AbortSignal): Promise<void> {
      if (isOver) await pause(QUICK_POLL_MS, stop);
      else await Promise.race([over, pause(POLL_MS, stop)]);
    },
    /** The attempt is over: returns when its log is, or has been silent for too long. */
    async drained(): Promise<void> {
      lastLineMs = Date.now();
      const timer = setInterval(() => {
        if (Date.now() - lastLineMs > LOG_SILENCE_MS) giveUp.abort();
      }, POLL_MS);
      await over.finally(() => clearInterval(timer));
    },
  };
}

/** Reads the job; returns the old record while the server cannot be reached. */
async function readJob(client: Client, job: Job): Promise<Job> {
  try {
    return await client.call(routes.getJob, { params: { job_id: job.id } });
  } catch (error) {
    if (error instanceof ApiError && !error.isFinal) return job;
    throw error;
  }
}

/** Prints each change once. */
function createStatusReporter(client: Client): (job: Job) => Promise<void> {
  const paint = createPaint(process.stderr);
  let reported = '';
  let node: { readonly id: string | null; readonly name: string } = { id: null, name: 'a node' };
  return async (job) => {
    if (job.status === 'RUNNING' && job.node_id !== node.id)
      node = { id: job.node_id, name: await nameNode(client, job) };
    const reason = toReason(job, node.name);
    const line = `${job.id} ${paint(styleOfStatus(job.status), job.status)}${reason && `: ${reason}`}`;
    if (line !== reported) note(line);
    reported = line;
  };
}

/** Its id, where the server does not tell the name now. */
async function nameNode(client: Client, job: Job): Promise<string> {
  const names = await readNodeNames(client, [job]).catch(() => new Map<string, string>());
  return names.get(job.node_id ?? '') ?? job.node_id ?? 'a node';
}

/** Nothing of a job that has just been queued: what it waits for, if anything, is known in a moment. */
function toReason(job: Job, node: string): string {
  if (job.status === 'QUEUED') return job.pending_reason === JUST_QUEUED ? '' : (job.pending_reason ?? '');
  if (job.status === 'LOST') return 'its node cannot be reached; the job waits for its return or for a retry';
  if (job.status === 'RUNNING') return `attempt ${job.attempt} on ${node}`;
  if (!isTerminal(job.status)) return '';
  const ran =
    job.started_at && job.finished_at ? `after ${toDuration(job.finished_at - job.started_at)}` : '';
  return [ran, toFailureWords(job)].filter(Boolean).join(', ');
}

/** The exit status as a shell has it: the exit code, 128 + n for signal n, 130 for a job cancelled before it ran, else 1. */
export function toExitStatus({ status, exit_code }: Pick<Job, 'status' | 'exit_code'>): number {
  if (status === 'SUCCEEDED') return 0;
  if (exit_code === null) return status === 'CANCELLED' ? 128 + os.constants.signals.SIGINT : 1;
  if (exit_code < 0) return 128 - exit_code;
  return Math.min(exit_code, 255) || 1;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
