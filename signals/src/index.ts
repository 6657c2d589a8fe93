export { courseOf, type Course } from './convergence.js';
export { isFarFromBest, type Reached } from './far-from-best.js';
export {
  healthOf,
  healthReasonsOf,
  medianIntervalMs,
  silenceLimitMs,
  toHealth,
  type HealthEvidence,
  type HealthReason,
  type SeriesEvidence,
} from './health.js';
export { hasNonFiniteLoss, outOfMemoryIn, splitRank } from './log-patterns.js';
export { KILLED_FOR_MEMORY, OUT_OF_GPU_MEMORY, OUT_OF_HOST_MEMORY } from './log-patterns.js';
export { isLoss, mustBeNumber } from './loss-names.js';
export { lossRole, type LossRole } from './loss-pairs.js';
export { medianOf } from './median.js';
export {
  OVERFITTING,
  WIDEST_LEVEL,
  isOverfitting,
  type Evaluation,
  type OverfittingRule,
} from './overfitting.js';
export { hasBecomeSlow, paceBetween, paceOf, timeLeftOf, type Pace, type TimeLeft } from './pace.js';
export { lastSpike, newestSpike, type LastSpike, type Spike } from './spike.js';
export { TREND_WINDOW, trendOf } from './trend.js';
export { isTrouble } from './trouble.js';
