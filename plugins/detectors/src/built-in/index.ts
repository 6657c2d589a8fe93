import type { Detector } from '@svc/contract';
import { diskLow } from './disk-low.js';
import { gpuUnderutilized } from './gpu-underutilized.js';
import { gpuUnhealthy } from './gpu-unhealthy.js';
import { lossNan } from './loss-nan.js';
import { lossSpike } from './loss-spike.js';
import { oom } from './oom.js';
import { overfitting } from './overfitting.js';
import { runStalled } from './run-stalled.js';

/** All built-in detectors. */
export const DETECTORS: readonly Detector[] = [
  lossNan,
  lossSpike,
  overfitting,
  oom,
  runStalled,
  gpuUnderutilized,
  gpuUnhealthy,
  diskLow,
];
