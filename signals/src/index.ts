export { healthOf, medianIntervalMs, type HealthEvidence, type SeriesEvidence } from './health.js';
export { medianOf } from './median.js';
export { isLoss, newestSpike, type Spike } from './spike.js';
export { TREND_WINDOW, trendOf } from './trend.js';
