import { defineAgentPlugin, writtenFolders, type Collecting, type StartedAttempt } from '@svc/agent';
import { AttemptOwners } from '@svc/agent/attempt-owners';
import { realPaths } from '@svc/agent/job-files';
import { JobFilesWatch } from '@svc/agent/job-files-watch';
import { repeated } from '@svc/agent/repeated';
import path from 'node:path';
import type { TArray, TObject, TString } from 'typebox';
import { AttemptEventFiles, REST_OF_STOPPED_MS } from './agent/attempt-event-files.js';

const NAME = 'event-files';
/** Of a file that was flushed, so much later its scalars are on their way. */
const READ_EVERY_MS = 500;
/** With many files, looking at them stays cheap. */
const MS_PER_FILE = 5;
const EVENT_FILE = /^events\.out\.tfevents\./;

/** Plain JSON Schema: every agent would load the library that builds it. */
const OPTIONS = {
  type: 'object',
  properties: {
    log_dirs: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description:
        'Further folders in which the event files of jobs are looked for; a path that is not absolute is below the working directory of the job.',
    },
  },
} as unknown as TObject<{ log_dirs: TArray<TString> }>;

/** Reads the event files that a training writes below its working directory, and below `log_dirs`, into its run. */
export default defineAgentPlugin({
  name: NAME,
  options: OPTIONS,
  setup(ctx, { log_dirs }) {
    const owners = new AttemptOwners(NAME);

    async function start(attempt: StartedAttempt): Promise<Collecting> {
      const { runId, workingDir, mounts, paths } = attempt;
      if (runId === null) return { close: () => {} };
      const dirs = log_dirs.map((dir) => path.resolve(workingDir, dir));
      const roots = [...(await realPaths([workingDir, ...dirs])), ...writtenFolders(mounts)];
      const leave = await owners.enter(attempt, roots);
      const files = await AttemptEventFiles.open(ctx, { ...attempt, runId }, paths, (file) =>
        owners.isOf(attempt, file),
      );
      const watch = new JobFilesWatch({
        roots,
        select: (entry) => entry.isFile() && EVENT_FILE.test(entry.name),
        except: [ctx.stateDir],
        onWalked: (walked) => files.take(walked),
        onSign: () => owners.notice(attempt),
      });
      const reading = repeated(
        async () => void (await files.read()),
        () => Math.max(READ_EVERY_MS, MS_PER_FILE * files.count),
      );
      return {
        async close(ended) {
          await Promise.all([watch.close(), reading.close()]);
          // An agent that closes leaves the attempt to the next one.
          if (!ctx.signal.aborted) {
            await watch.look();
            await files.readRest(ended?.wasStopped ? REST_OF_STOPPED_MS : undefined);
          }
          await leave();
        },
      };
    }

    ctx.hooks.collectors.tap(ctx.name, (collectors) => collectors.add({ name: NAME, of: 'attempt', start }));
  },
});
