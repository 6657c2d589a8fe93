import type { Diagnosis } from '@svc/contract';
import { expect } from 'chai';
import { toDiagnosisLines } from '../src/commands/diagnose.js';

const plain = (_style: unknown, text: string): string => text;

const DIAGNOSIS: Diagnosis = {
  run_id: 'run_1',
  job_id: 'job_1',
  attempt: 1,
  status: 'RUNNING',
  summary: 'The run is running.',
  progress: {
    step: 120,
    max_steps: 400,
    epoch: 3,
    fraction: 0.3,
    steps_per_s: 2,
    time_left: { likely_s: 140, least_s: 120, most_s: 200 },
  },
  convergence: {
    metric: 'train/loss',
    is_primary: false,
    direction: 'minimize',
    trend: 'decreasing',
    best: 0.25,
    best_step: 118,
    latest: 0.2512345,
    latest_step: 120,
    is_improving: true,
    is_stalled: false,
    eval_best: 0.3,
    eval_best_step: 100,
    eval_protocol: null,
  },
  anomalies: [
    {
      kind: 'nan',
      severity: 'critical',
      message: 'train/loss is NaN from step 12 on (2 points)',
      evidence: [{ metric: 'train/loss', step: 12, value: 'NaN' }, { event_id: 'evt_1' }],
      fixes: ['Lower the learning rate.'],
    },
  ],
  health: { status: 'ok', reasons: [] },
  health_warnings: [],
  throughput: {
    metric: 'train/loss',
    from_step: 57,
    steps_per_s: 2,
    before_steps_per_s: 4,
    change: -0.5,
  },
  gpu: {
    node_id: 'node_1',
    utilization_percent: 91.6,
    slots: [{ index: 3, utilization_percent: 91.6, memory_used_mb: 2048, memory_total_mb: 81920 }],
  },
  last_point_at: null,
  since_last_point_s: null,
  last_errors: [{ seq: 6, stream: 'stderr', ts: 1, text: 'UserWarning: \u001b[31mred' }],
  next_actions: [{ tool: 'tail_logs', args: { job_id: 'job_1', attempt: 1 }, reason: 'Why not.' }],
};

describe('svc diagnose', () => {
  it('shows what a person reads, with the evidence', () => {
    expect(toDiagnosisLines(DIAGNOSIS, plain)).to.deep.equal([
      'run_1  RUNNING',
      '',
      'The run is running.',
      '',
      'progress    step 120 of 400, 30 %, about 2m 20s left (2m to 3m 20s)',
      'train/loss  0.25123, decreasing, best 0.25 at step 118, best evaluation 0.3 at step 100',
      'pace        2 steps per second, -50 % against the time before',
      'GPU 3       92 % busy over the run, memory 2 GiB of 80 GiB',
      'last point  -',
      '',
      'Needs attention',
      '  critical  train/loss is NaN from step 12 on (2 points)',
      '    train/loss = NaN at step 12',
      '    event evt_1',
      '    - Lower the learning rate.',
      '',
      'Errors in the log',
      '  log line 7: UserWarning:  [31mred',
      '',
      'Next',
      '  svc logs job_1 --attempt 1',
      '    Why not.',
    ]);
  });

  it('a latest value that is not finite has no trend, and a loss that has diverged is worse than its best', () => {
    const lineWith = (convergence: Partial<Diagnosis['convergence']>) => {
      const changed = {
        ...DIAGNOSIS,
        convergence: { ...DIAGNOSIS.convergence, eval_best: null, ...convergence },
      };
      return toDiagnosisLines(changed, plain)[5];
    };
    expect(lineWith({ latest: 'NaN' })).to.equal('train/loss  NaN, best 0.25 at step 118');
    const level = { trend: 'stable', is_improving: false, is_stalled: true } as const;
    expect(lineWith(level)).to.include('0.25123, stalled,');
    expect(lineWith({ ...level, is_stalled: false })).to.include('0.25123, worse than its best,');
  });

  it('leaves out what there is not', () => {
    const empty: Diagnosis = {
      ...DIAGNOSIS,
      progress: {
        step: null,
        max_steps: null,
        epoch: null,
        fraction: null,
        steps_per_s: null,
        time_left: null,
      },
      convergence: { ...DIAGNOSIS.convergence, metric: null },
      throughput: null,
      gpu: null,
      anomalies: [],
      last_errors: [],
      next_actions: [],
    };
    expect(toDiagnosisLines(empty, plain).slice(4)).to.deep.equal(['progress    -', 'last point  -']);
  });
});
