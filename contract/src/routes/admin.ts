import { Type } from 'typebox';
import { route, strict, text } from '../route.js';
import { REMOVABLE_STATES } from '../protocol/enums.js';
import { GarbageReport } from '../records/garbage.js';

export const createBackup = route({
  id: 'admin.backup',
  method: 'POST',
  path: '/admin/backup',
  scope: 'write',
  summary: 'Back the database and the logs up while the server works; path and size of the database file.',
  answers: { 200: strict({ path: Type.String(), size: Type.Integer() }, { $id: 'Backup' }) },
});

export const collectGarbage = route({
  id: 'admin.gc',
  method: 'POST',
  path: '/admin/gc',
  scope: 'write',
  summary: 'Remove what has been over for long enough; nothing is removed unless dry_run is false.',
  body: strict({
    dry_run: Type.Optional(Type.Boolean({ default: true })),
    older_than_s: Type.Optional(
      Type.Number({ minimum: 0, default: 30 * 86_400, description: 'Finished at least so long ago.' }),
    ),
    project: Type.Optional(text(200, 1)),
    states: Type.Optional(
      Type.Array(Type.Enum([...REMOVABLE_STATES]), {
        minItems: 1,
        maxItems: REMOVABLE_STATES.length,
        uniqueItems: true,
        description: 'Left out: all of them.',
      }),
    ),
    /** Left out: `keep`. */
    keep_tag: Type.Optional(text(100, 1)),
  }),
  answers: { 200: GarbageReport },
});
