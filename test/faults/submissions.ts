import { routes } from '@svc/contract';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Client } from '@svc/client';
import { toSubmit, type PlannedJob } from './workload.js';
import type { World } from './world.js';

const TRY_MS = 2000;
const PAUSE_MS = 100;
const GIVE_UP_MS = 120_000;

/** A job as its user knows it. */
export interface Submitted {
  readonly plan: PlannedJob;
  readonly id: string;
  /** The server's answer to the cancel: null when none was asked for, `conflict` when the job had ended by then. */
  readonly cancel: 'CANCELLED' | 'cancel-requested' | 'conflict' | null;
}

export interface Workplan {
  readonly jobs: readonly PlannedJob[];
  readonly python: string;
  readonly journal: string;
  /** Makes the keys of this round its own. */
  readonly label: string;
}

/** Submits and cancels at the planned times, through every outage, as a patient user does: again, with the same key. */
export function carryOutWorkload(world: World, workplan: Workplan, beganAt: number): Promise<Submitted[]> {
  return Promise.all(workplan.jobs.map((plan) => carryOutJob(world, workplan, plan, beganAt)));
}

async function carryOutJob(
  world: World,
  { python, journal, label }: Workplan,
  plan: PlannedJob,
  beganAt: number,
): Promise<Submitted> {
  const at = (ms: number) => delay(Math.max(0, beganAt + ms - Date.now()));
  const headers = { 'idempotency-key': `${label}-${plan.name}` };
  const body = toSubmit(plan, python, journal);
  await at(plan.submitAtMs);
  const { id } = await insist(world, (client, signal) =>
    client.call(routes.submitJob, { body, headers, signal }),
  );
  if (plan.cancelAtMs === null) return { plan, id, cancel: null };
  await at(plan.cancelAtMs);
  const cancel = await insist(world, async (client, signal) => {
    const answer = await client
      .call(routes.cancelJob, { params: { job_id: id }, signal })
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 409) return { result: 'conflict' as const };
        throw error;
      });
    return answer.result;
  });
  return { plan, id, cancel };
}

/** Asks again until there is an answer that is not the server's trouble. */
export async function insist<T>(
  world: World,
  ask: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  for (;;) {
    try {
      return await ask(world.server.client, AbortSignal.timeout(TRY_MS));
    } catch (error) {
      const isFinal = error instanceof ApiError && error.isFinal;
      if (isFinal || Date.now() > giveUpAt) throw error;
      await delay(PAUSE_MS);
    }
  }
}
