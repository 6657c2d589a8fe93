import type { PluginContext } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { Dispatcher } from '../../plugins/jobs/src/dispatch.js';
import { jobsOptions, toTiming } from '../../plugins/jobs/src/options.js';
import { Queue } from '../../plugins/jobs/src/queue.js';
import { Retrier } from '../../plugins/jobs/src/retry.js';
import { Scheduler } from '../../plugins/jobs/src/scheduler.js';
import { Sweeper } from '../../plugins/jobs/src/sweep.js';
import { Transitions } from '../../plugins/jobs/src/transition.js';
import { Lab, virtualSlots } from '../../plugins/jobs/test/support/lab.js';
import { Value } from 'typebox/value';
import { toFlags } from './queued-jobs.js';

/** A server whose own scheduler sleeps, with nodes of 8 slots each that are all held. */
export async function openBusyLab(nodeCount: number): Promise<Lab> {
  const lab = await Lab.open({ options: { tick_s: 3600 } });
  for (let index = 0; index < nodeCount; index++) {
    const labels = { zone: `z${index % 10}`, ...toFlags(-1) };
    await lab.agent({ name: `gpu-${index}`, slots: virtualSlots(8), max_cpu_jobs: 0, labels });
  }
  await lab.kernel.db('slots').update({ job_id: 'job_of_somebody', attempt: 1 });
  return lab;
}

/** A scheduler of our own on that server, to make passes with. The hooks of jobs are not ours to fire: nobody taps them here. */
export function createScheduler({ kernel, nodes }: Lab): { scheduler: Scheduler; queue: Queue } {
  const fire = (_hook: unknown, first: unknown) => Promise.resolve(first);
  const ctx = Object.create(kernel.ctx, { fire: { value: fire } }) as PluginContext;
  const timing = toTiming(Value.Default(jobsOptions, {}) as Parameters<typeof toTiming>[0]);
  const transitions = new Transitions(ctx, ctx.use(eventsRef));
  const dispatcher = new Dispatcher(ctx, nodes, transitions, timing);
  const queue = new Queue();
  const parts = {
    queue,
    dispatcher,
    retrier: new Retrier(ctx, transitions, timing),
    sweeper: new Sweeper(ctx, nodes, transitions, dispatcher, timing),
  };
  return { scheduler: new Scheduler(ctx, nodes, parts, timing), queue };
}
