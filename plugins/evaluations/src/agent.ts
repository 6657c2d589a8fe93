import { attemptEnded, attemptPrepare, attemptStarting, defineAgentPlugin, toReason } from '@svc/agent';
import { loadJson, writeDurable } from '@svc/agent/durable-file';
import type { AttemptKey, EvaluationResult, Exit } from '@svc/contract';
import path from 'node:path';
import { requireCheckpoint } from './agent/evaluated-checkpoint.js';
import {
  expectResult,
  findStamp,
  readResult,
  RESULT_VARIABLE,
  type ExpectedResult,
} from './agent/eval-result.js';
import { RESULT_CHANNEL } from './result-channel.js';

const NAME = 'evaluations';
/** So long the report of an end waits for the server to have the result, so that both are seen at once. */
const DELIVERY_MS = 2000;
/** In the directory of an attempt that starts in a source tree: what lay at the place of the result once the tree was unpacked. */
const UNPACKED_FILE = 'eval_before.json';
/** After every plugin that brings files. */
const LAST = { stage: 1 };

/** An evaluation that exits with 0 succeeds only if it has written a file with a valid result, which goes to the server. */
export default defineAgentPlugin({
  name: NAME,
  setup(ctx) {
    const results = ctx.channel(RESULT_CHANNEL);

    ctx.tap(attemptPrepare, async (draft) => {
      const expected = await expectResult(draft);
      if (expected === null) return undefined;
      const checkpoint = await requireCheckpoint(draft);
      return {
        env: { ...checkpoint, [RESULT_VARIABLE]: expected.path },
        files: expected.path === draft.paths.result ? [expected.path] : [],
        notes: { [NAME]: expected },
      };
    });

    ctx.tap(
      attemptStarting,
      async ({ notes, snapshot, paths }) => {
        const expected = toExpected(notes);
        if (expected === null || snapshot === null) return;
        const before = await findStamp(expected.path);
        await writeDurable(path.join(paths.dir, UNPACKED_FILE), { ...expected, before });
      },
      LAST,
    );

    ctx.tap(attemptEnded, async (exit, { job_id, attempt, notes, paths }): Promise<Exit> => {
      const noted = toExpected(notes);
      if (noted === null || exit.kind !== 'exited' || exit.code !== 0) return exit;
      const expected = (await loadJson<ExpectedResult>(path.join(paths.dir, UNPACKED_FILE))) ?? noted;
      const reading = await readResult(expected, paths.spool);
      const flaw = 'flaw' in reading ? reading.flaw : await trySend(reading.result, { job_id, attempt });
      return flaw === null ? exit : { kind: 'result_invalid', message: `${flaw} (${ctx.node.name})` };
    });

    /** Why the result cannot be sent; null once it is on its way. */
    async function trySend(result: EvaluationResult, key: AttemptKey): Promise<string | null> {
      return results.deliver(result, DELIVERY_MS, key).then(
        () => null,
        (error: unknown) => `the result cannot be sent to the server: ${toReason(error)}`,
      );
    }
  },
});

function toExpected(notes: Readonly<Record<string, unknown>>): ExpectedResult | null {
  return (notes[NAME] as ExpectedResult | null | undefined) ?? null;
}
