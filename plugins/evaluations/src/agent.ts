import { attemptEnded, attemptPrepare, defineAgentPlugin } from '@svc/agent';
import type { Exit } from '@svc/contract';
import { expectResult, findResultFlaw, RESULT_VARIABLE, type ExpectedResult } from './agent/eval-result.js';

const NAME = 'evaluations';

/** An evaluation that exits with 0 succeeds only if it has written a file with a valid result. */
export default defineAgentPlugin({
  name: NAME,
  setup(ctx) {
    ctx.tap(attemptPrepare, async (draft) => {
      const expected = await expectResult(draft);
      if (expected === null) return undefined;
      return {
        env: { [RESULT_VARIABLE]: expected.path },
        files: expected.path === draft.paths.result ? [expected.path] : [],
        notes: { [NAME]: expected },
      };
    });
    ctx.tap(attemptEnded, async (exit, { notes, paths }): Promise<Exit> => {
      const expected = notes[NAME] as ExpectedResult | null | undefined;
      if (!expected || exit.kind !== 'exited' || exit.code !== 0) return exit;
      const flaw = await findResultFlaw(expected, paths.spool);
      return flaw === null ? exit : { kind: 'result_invalid', message: `${flaw} (${ctx.node.name})` };
    });
  },
});
