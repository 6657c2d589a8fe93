interface Xid {
  readonly severity: 'warning' | 'critical';
  readonly meaning: string;
}

const RESET: readonly (readonly [code: number, meaning: string])[] = [
  [46, 'the GPU has stopped processing'],
  [48, 'an uncorrectable memory error (double bit)'],
  [54, 'auxiliary power is not connected'],
  [62, 'an internal micro-controller has halted'],
  [64, 'a bad memory row could not be replaced'],
  [74, 'an error of NVLink'],
  [79, 'the GPU has fallen off the bus'],
  [95, 'an uncontained memory error'],
  [110, 'a security fault'],
  [119, 'the GPU system processor (GSP) does not answer'],
  [120, 'an error of the GPU system processor (GSP)'],
  [136, 'the training of a link has failed'],
  [140, 'an unrecovered memory error'],
  [143, 'the GPU could not be initialized'],
  [155, 'an error of NVLink'],
  [156, 'a resource of the GPU was retired'],
  [158, 'a fatal time-out of the GPU'],
];
const WATCH: typeof RESET = [
  [63, 'a bad memory row is replaced at the next reset'],
  [92, 'many corrected memory errors'],
  [94, 'a contained memory error, which has ended a job'],
  [109, 'a time-out of a context switch'],
];

/**
 * Errors that say that a GPU is sick, after NVIDIA's Xid catalog: critical where the GPU must be reset or looked at before it computes again.
 * The others are faults of an application (13, 31, 43, 45, 68) or say nothing of the GPU alone.
 */
export const XIDS: ReadonlyMap<number, Xid> = new Map<number, Xid>([
  ...RESET.map(([code, meaning]) => [code, { severity: 'critical', meaning }] as const),
  ...WATCH.map(([code, meaning]) => [code, { severity: 'warning', meaning }] as const),
]);
