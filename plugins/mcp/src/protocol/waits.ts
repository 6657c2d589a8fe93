import { pause } from '@svc/client';
import { isTerminal, routes, type Job } from '@svc/contract';
import { ToolError } from '../tools/tool-error.js';
import type { Call } from '../tools/tool.js';

/** Of one token: each holds a connection, and asks the REST API again and again. */
const MOST_WAITS = 50;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** The end is told late by this share of the time that was waited. */
const PAUSE_SHARE = 0.1;

/** By token. */
const waits = new Map<string, number>();

/** The job once it has ended, or as it is after `atMostMs`; waits no longer than the caller does. */
export async function untilEnded(call: Call, job_id: string, atMostMs = Infinity): Promise<Job> {
  const token = call.client.connection.token ?? '';
  const running = waits.get(token) ?? 0;
  if (running >= MOST_WAITS)
    throw new ToolError(
      'rate_limited',
      `${running} calls with this token wait for the end of a job already: ask with tasks/get instead`,
    );
  waits.set(token, running + 1);
  try {
    return await lookUntilEnded(call, job_id, atMostMs);
  } finally {
    const left = (waits.get(token) ?? 1) - 1;
    if (left > 0) waits.set(token, left);
    else waits.delete(token);
  }
}

async function lookUntilEnded({ client, signal }: Call, job_id: string, atMostMs: number): Promise<Job> {
  const startedAt = performance.now();
  for (;;) {
    const job = await client.call(routes.getJob, { params: { job_id }, signal });
    const waitedMs = performance.now() - startedAt;
    if (isTerminal(job.status) || waitedMs >= atMostMs) return job;
    await pause(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs * PAUSE_SHARE)), signal);
    signal.throwIfAborted();
  }
}
