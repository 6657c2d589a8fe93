import { attemptEnded, defineAgentPlugin } from '@svc/agent';
import type { Exit } from '@svc/contract';
import { findOomInLog } from './agent/oom-in-log.js';

/** A failed attempt whose log ends with an out-of-memory error is reported as out of memory, unless it was stopped. */
export default defineAgentPlugin({
  name: 'oom-evidence',
  setup(ctx) {
    ctx.tap(attemptEnded, async (exit, { paths, wasStopped }): Promise<Exit> => {
      const hasFailed = (exit.kind === 'exited' || exit.kind === 'signaled') && exit.code !== 0;
      if (!hasFailed || wasStopped) return exit;
      const evidence = await findOomInLog(paths);
      return evidence === null ? exit : { kind: 'oom', code: exit.code, evidence };
    });
  },
});
