import type { EventRecord, Job, NodeRecord, Slot } from '@svc/contract';
import type { ApiRequest, ApiTable } from './fake-api.js';
import { MINUTE, NOW, event, idOf, job, metric, node, run, slot, status, summary } from './records.js';

// What the overview is shown of.

/** Events by the filters that a page asks with. */
export function eventsOf(events: readonly EventRecord[]) {
  return ({ query }: ApiRequest) => ({
    items: events
      .filter((each) =>
        ['severity', 'type'].every((name) => [null, each[name as 'type']].includes(query.get(name))),
      )
      .sort((a, b) => b.created_at - a.created_at)
      .slice(0, Number(query.get('limit'))),
  });
}

export function jobsOf(jobs: readonly Job[]) {
  return ({ query }: ApiRequest) => ({
    items: jobs.filter((each) => each.status === query.get('status')),
    next_before: null,
  });
}

export const failed = (number: number, changes: Partial<EventRecord> = {}) =>
  event(number, {
    type: 'RUN_FINISHED',
    severity: 'warning',
    title: `Job job-${number} failed`,
    message: 'exited with code 1',
    job_id: idOf('job', number),
    data: { status: 'FAILED' },
    created_at: NOW - 10 * MINUTE,
    ...changes,
  });

/** 50 nodes of 8 GPUs, of which some are busy, free, away or not well. */
export function cluster(): NodeRecord[] {
  return Array.from({ length: 50 }, (_, at) => {
    const slots = Array.from({ length: 8 }, (_, index): Slot => {
      const number = at * 8 + index;
      const isBusy = number % 5 < 3;
      const figures = {
        utilization: (number * 13) % 101,
        memory_used_mb: (number * 997) % 81_920,
        temperature_c: 40 + (number % 45),
      };
      const busy = isBusy ? { busy: true, job_id: idOf('job', (number % 9) + 1) } : {};
      const health =
        number % 97 === 50
          ? ({
              state: 'foreign',
              reason: 'is used by python (pid 4711, alice, 10 GiB), which is not a job of svc',
              since: NOW,
            } as const)
          : number % 89 === 40
            ? ({ state: 'quarantined', reason: 'is still used', since: NOW } as const)
            : number % 101 === 60
              ? ({ state: 'unhealthy', reason: 'is lost', since: NOW } as const)
              : slot(0).health;
      return slot(index, { ...figures, ...busy, health });
    });
    return node(at + 1, {
      name: `gpu-${at + 1}`,
      slots,
      status: at === 7 ? 'DRAINING' : at === 12 ? 'OFFLINE' : 'ONLINE',
    });
  });
}

/** A GPU that is busy, one that is free, and one that somebody else uses. */
export const NODES = [
  node(1, {
    slots: [
      slot(0, {
        busy: true,
        job_id: idOf('job', 1),
        utilization: 93.4,
        memory_used_mb: 40_960,
        temperature_c: 67,
        power_w: 402,
      }),
      slot(1),
    ],
  }),
  node(2, {
    status: 'DRAINING',
    slots: [
      slot(0, {
        health: { state: 'foreign', reason: 'is used by python (pid 4711, alice, 10 GiB)', since: NOW },
      }),
    ],
  }),
];
export const TRAINING = run(1, { job_id: idOf('job', 1), name: 'job-1', step: 400, max_steps: 1000 });
export const RUNNING = job(1, {
  run_id: TRAINING.id,
  node_id: idOf('node', 1),
  gpu_indices: [0],
  started_at: NOW - 5 * MINUTE,
});
const waiting = [
  job(2, { status: 'QUEUED', pending_reason: 'waiting for 1 free GPU behind 1 job' }),
  job(3, { status: 'QUEUED', priority: 5, pending_reason: 'needs 4 GPUs: the largest online node has 2' }),
];
/** A service in which something runs and waits. */
export const LIVELY: ApiTable = {
  'GET /status': status({ RUNNING: 1, QUEUED: 2 }, { total: 2, online: 1 }, [RUNNING]),
  'GET /nodes': { items: NODES },
  'GET /jobs': jobsOf(waiting),
  'GET /runs': { items: [TRAINING, run(9, { name: 'notebook', step: 12 })] },
  'GET /runs/{run_id}/summary': ({ params }: ApiRequest) =>
    params['run_id'] === TRAINING.id
      ? summary(TRAINING, {
          'val/loss': metric({ is_primary: true, latest: { value: 0.125, step: 400, ts: NOW } }),
          lr: metric(),
        })
      : summary(run(9, { step: 12 })),
  'GET /events': eventsOf([
    event(1, { title: 'Job job-1 started', job_id: idOf('job', 1), created_at: NOW - MINUTE }),
  ]),
};
