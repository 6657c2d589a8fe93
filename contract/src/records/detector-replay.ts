import { Type, type Static } from 'typebox';
import { Timestamp, strict } from '../route.js';
import { Severity } from './event.js';
import { JsonObject } from './run.js';

/** What a detector would have told, by the time in the history of the run. */
export const ReplayedFinding = strict({
  at: Timestamp,
  detector: Type.String(),
  type: Type.String(),
  severity: Severity,
  title: Type.String(),
  message: Type.String(),
  data: JsonObject,
});
export type ReplayedFinding = Static<typeof ReplayedFinding>;

export const DetectorReplay = strict(
  {
    run_id: Type.String(),
    findings: Type.Array(ReplayedFinding),
    points: Type.Integer({ description: 'How many points were replayed.' }),
    lines: Type.Integer(),
    samples: Type.Integer({ description: 'Figures of the host while the attempt ran there.' }),
    complete: Type.Boolean({ description: 'false: the history is too long, and its end was not replayed.' }),
  },
  { $id: 'DetectorReplay' },
);
export type DetectorReplay = Static<typeof DetectorReplay>;
