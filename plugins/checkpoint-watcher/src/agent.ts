import {
  defineAgentPlugin,
  toReason,
  writtenFolders,
  type Collecting,
  type StartedAttempt,
} from '@svc/agent';
import { AttemptOwners, type WrittenFile } from '@svc/agent/attempt-owners';
import { realPaths } from '@svc/agent/job-files';
import { JobFilesWatch } from '@svc/agent/job-files-watch';
import { repeated } from '@svc/agent/repeated';
import path from 'node:path';
import type { TArray, TNumber, TObject, TString } from 'typebox';
import { AttemptCheckpoints } from './agent/attempt-checkpoints.js';
import { candidateSelector, DEFAULT_DIRECTORIES, DEFAULT_FILES } from './agent/candidates.js';

const NAME = 'checkpoint-watcher';
const LOOK_EVERY_MS = 1000;

const patterns = (default_: string[], description: string) => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^/]+$' },
  default: default_,
  description,
});

/** Plain JSON Schema: every agent would load the library that builds it. */
const OPTIONS = {
  type: 'object',
  properties: {
    directories: patterns(
      DEFAULT_DIRECTORIES,
      'Names of directories that are checkpoints; `*` stands for any characters.',
    ),
    files: patterns(DEFAULT_FILES, 'Names of files that are checkpoints.'),
    checkpoint_dirs: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description:
        'Further folders in which checkpoints of jobs are looked for; a path that is not absolute is below the working directory of the job.',
    },
    settle_s: {
      type: 'number',
      default: 3,
      minimum: 0.1,
      description: 'For how long size and time of a checkpoint must not change before it is registered.',
    },
  },
} as unknown as TObject<{
  directories: TArray<TString>;
  files: TArray<TString>;
  checkpoint_dirs: TArray<TString>;
  settle_s: TNumber;
}>;

/** Registers the checkpoints that a training writes below its working directory. */
export default defineAgentPlugin({
  name: NAME,
  options: OPTIONS,
  setup(ctx, { directories, files, checkpoint_dirs, settle_s }) {
    const owners = new AttemptOwners(NAME);

    async function start(attempt: StartedAttempt): Promise<Collecting> {
      const { runId, workingDir, mounts, paths } = attempt;
      if (runId === null) return { close: () => {} };
      const dirs = checkpoint_dirs.map((dir) => path.resolve(workingDir, dir));
      const roots = [...(await realPaths([workingDir, ...dirs])), ...writtenFolders(mounts)];
      const leave = await owners.enter(attempt, roots);
      const isOwn = (file: WrittenFile) => owners.isOf(attempt, file);
      const checkpoints = await AttemptCheckpoints.open(
        ctx,
        { ...attempt, runId },
        paths,
        isOwn,
        settle_s * 1000,
      );
      const watch = new JobFilesWatch({
        roots,
        select: candidateSelector(directories, files),
        except: [ctx.stateDir],
        onWalked: async (walked) => {
          await checkpoints
            .take(walked)
            .catch((error: unknown) =>
              ctx.log.warn('checkpoints cannot be looked after now', { reason: toReason(error) }),
            );
          return false;
        },
        onSign: () => owners.notice(attempt),
      });
      const settling = repeated(
        () => checkpoints.settle(),
        () => Math.min(LOOK_EVERY_MS, settle_s * 500),
      );
      return {
        async close(ended) {
          await Promise.all([watch.close(), settling.close()]);
          // An agent that closes leaves the attempt to the next one.
          if (!ctx.signal.aborted) {
            await watch.look();
            await checkpoints.settleRest({
              isCutOff: ended?.exit.kind !== 'exited' || ended.exit.code !== 0,
            });
          }
          await leave();
        },
      };
    }

    ctx.hooks.collectors.tap(ctx.name, (collectors) => collectors.add({ name: NAME, of: 'attempt', start }));
  },
});
