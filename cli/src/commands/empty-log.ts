import type { Client } from '@svc/client';
import { isTerminal, routes, type AttemptKey, type Job, type JobAttempt } from '@svc/contract';
import { toFailureWords } from '../output/failure-words.js';
import { note } from '../output/print.js';

/** Says on stderr why the attempt has no lines, so that what stdout is written to stays empty. */
export async function noteEmptyLog(client: Client, { job_id, attempt }: AttemptKey): Promise<void> {
  const job = await client.call(routes.getJob, { params: { job_id } });
  const found = job.attempt === attempt ? job : await readAttempt(client, { job_id, attempt });
  if (found === undefined) return;
  const why = isTerminal(found.status) ? toEnd(found) : job.pending_reason;
  note(
    `no lines${isTerminal(found.status) ? '' : ' yet'}: ${found === job ? 'the job' : `attempt ${attempt}`} is ${found.status}${why ? ` (${why})` : ''}`,
  );
}

/** One that the job has left behind. */
async function readAttempt(client: Client, { job_id, attempt }: AttemptKey): Promise<JobAttempt | undefined> {
  const query = { limit: 1, before: attempt + 1 };
  return (await client.call(routes.listJobAttempts, { params: { job_id }, query })).items[0];
}

function toEnd(ended: Job | JobAttempt): string {
  if (ended.status === 'CANCELLED' && ended.started_at === null) return 'before it started';
  return toFailureWords(ended);
}
