import type { EVENT_TYPES, SEVERITIES } from './enums.js';

/** The types that detectors find say so themselves. */
type OfDetectors =
  | 'LOSS_NAN'
  | 'LOSS_SPIKE'
  | 'OOM'
  | 'OVERFITTING_SUSPECTED'
  | 'GPU_UNDERUTILIZED'
  | 'GPU_UNHEALTHY'
  | 'DISK_LOW'
  | 'RUN_STALLED';

interface Note {
  readonly severities: readonly (typeof SEVERITIES)[number][];
  readonly when: string;
}

/** When events are published that report what became of a record. */
export const EVENT_NOTES: Readonly<Record<Exclude<(typeof EVENT_TYPES)[number], OfDetectors>, Note>> = {
  JOB_QUEUED: { severities: ['info'], when: 'a job is submitted or queued again' },
  RUN_STARTED: { severities: ['info'], when: 'a run starts, or a job without a run' },
  RUN_FINISHED: {
    severities: ['info', 'warning'],
    when: 'a run ends, or a job without a run; a warning unless it SUCCEEDED or was imported, also when it was cancelled',
  },
  JOB_LOST: { severities: ['warning'], when: 'the state of a job becomes unknown' },
  JOB_FOUND: { severities: ['info'], when: 'a job that was LOST is running after all' },
  RUN_LOST: {
    severities: ['warning'],
    when: 'a run without a job has reported nothing for `run_lost_after_s`',
  },
  RUN_FOUND: { severities: ['info'], when: 'a run that was LOST reports again' },
  RUN_DELETED: {
    severities: ['info'],
    when: 'somebody has deleted a run; `data.run_id` says which, as the event does not go with the run',
  },
  CHECKPOINT_CREATED: { severities: ['info'], when: 'a checkpoint is registered' },
  EVALUATION_FINISHED: {
    severities: ['info', 'warning'],
    when: 'an evaluation has ended; a warning unless it SUCCEEDED',
  },
  AGENT_DISCONNECTED: {
    severities: ['warning'],
    when: 'an agent has disconnected. When one does so more than 5 times in a short time, one event in 10 minutes tells of all',
  },
  CUSTOM: {
    severities: ['info', 'warning', 'critical'],
    when: 'a training reports an event of its own; without a run: the server refused a message of an agent',
  },
};
