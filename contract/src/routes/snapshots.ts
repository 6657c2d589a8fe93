import { MAX_SNAPSHOT_BYTES } from '../protocol/limits.js';
import { route } from '../route.js';
import { Snapshot } from '../records/snapshot.js';

export const uploadSnapshot = route({
  id: 'snapshots.upload',
  method: 'POST',
  path: '/snapshots',
  scope: 'write',
  summary: 'Upload a source tree as a gzipped tar. One that is there already is answered with 200.',
  upload: 'application/gzip',
  bodyLimitBytes: MAX_SNAPSHOT_BYTES,
  answers: { 200: Snapshot, 201: Snapshot },
});

export const getSnapshot = route({
  id: 'snapshots.get',
  method: 'GET',
  path: '/snapshots/{sha256}',
  scope: 'read-or-agent',
  summary: 'The gzipped tar of a source tree. HEAD tells whether it is there.',
  stream: 'download',
});
