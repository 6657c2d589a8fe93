import { attemptStarting, defineAgentPlugin } from '@svc/agent';
import path from 'node:path';
import { SnapshotCache } from './agent/snapshot-cache.js';
import { unpackInto } from './agent/unpack.js';

/** For `svc code`: what it gets back is what a job gets. */
export { hashOf } from './agent/snapshot-cache.js';
export { unpackTree } from './agent/unpack-tree.js';

/** Not the server's `snapshots`: both may work on one directory. */
const CACHE = 'snapshot-cache';
/** What was fetched stays, the newest, up to so much. */
const CACHE_BYTES = 2 * 1024 ** 3;

/** Brings the source tree of a job into its `work` directory. */
export default defineAgentPlugin({
  name: 'snapshots',
  setup(ctx) {
    const cache = new SnapshotCache(path.join(ctx.stateDir, CACHE), { maxBytes: CACHE_BYTES }, ctx);
    ctx.tap(attemptStarting, async ({ snapshot, workingDir, user, signal }) => {
      if (snapshot === null) return;
      await cache.use(snapshot, signal, (archive) => unpackInto(archive, workingDir, user, signal));
    });
  },
});
