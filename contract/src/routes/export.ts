import { Type } from 'typebox';
import { route, strict } from '../route.js';
import { EXPORT_FORMATS } from '../protocol/enums.js';

export const exportMetrics = route({
  id: 'metrics.export',
  method: 'GET',
  path: '/runs/{run_id}/metrics/export',
  scope: 'read',
  summary: 'Every point of a run as a file, in the order name, step, seq: name, step, epoch, value, ts, seq.',
  query: strict({
    format: Type.Optional(Type.Enum([...EXPORT_FORMATS], { default: 'csv' })),
    names: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'One comma-separated value; left out: every metric of the run.',
      }),
    ),
  }),
  stream: 'download',
});
