import { Type } from 'typebox';
import { DetectorReplay } from '../records/detector-replay.js';
import { route, strict } from '../route.js';

export const replayDetectors = route({
  id: 'detectors.replay',
  method: 'POST',
  path: '/runs/{run_id}/detectors:replay',
  scope: 'read',
  summary: 'What the detectors would have told of the stored history of a run. Nothing is stored.',
  body: strict({
    settings: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.Object({}, { additionalProperties: true }),
          description: 'Options of detectors by their names, in place of those of svc.config.ts.',
        },
      ),
    ),
  }),
  answers: { 200: DetectorReplay },
});
