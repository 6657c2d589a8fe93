import type { Detector, DetectorInput, DetectorSubject, MetricPoint } from '@svc/contract';
import { DETECTORS } from '../../src/built-in/index.js';
import { MetricSelection } from '../../src/engine/metric-selection.js';
import { configure, type DetectorSettings } from '../../src/engine/settings.js';
import { SubjectWatch, type Told } from '../../src/engine/subject-watch.js';

/** The detectors of one subject, fed by the test. */
export function watchOf(
  subject: DetectorSubject,
  settings: DetectorSettings = {},
  detectors: readonly Detector[] = DETECTORS,
) {
  const byName = new Map(detectors.map((detector) => [detector.name, detector]));
  const configured = configure(byName, settings, (path, message) => {
    throw new Error(`${path}: ${message}`);
  })[subject];
  return new SubjectWatch(configured, new MetricSelection(configured), (_, error) => {
    throw error;
  });
}

/** What the detectors tell of points that arrive in batches, a second apart. */
export function toldOf(points: readonly MetricPoint[], settings: DetectorSettings = {}, batch = 10): Told[] {
  const watch = watchOf('run', settings);
  const told: Told[] = [];
  for (let from = 0; from < points.length; from += batch) {
    const at = 1_700_000_000_000 + from * 100;
    const input: DetectorInput = {
      kind: 'metric',
      at,
      run_id: 'run',
      points: points.slice(from, from + batch),
    };
    told.push(...watch.feed(input));
  }
  return told;
}
