import { defineAgentPlugin } from '@svc/agent';
import { jobFilesCollector } from '@svc/agent/job-files-collector';
import type { TArray, TObject, TString } from 'typebox';
import { AttemptEventFiles } from './agent/attempt-event-files.js';

const NAME = 'event-files';
const EVENT_FILE = /^events\.out\.tfevents\./;
/** A copy is written under this name, and then renamed. */
const UNFINISHED = /\.(tmp|temp|part|partial)$/i;

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
    const collector = jobFilesCollector(ctx, {
      name: NAME,
      dirs: log_dirs,
      select: (entry) => entry.isFile() && EVENT_FILE.test(entry.name) && !UNFINISHED.test(entry.name),
      open: (attempt, isOwn) => AttemptEventFiles.open(ctx, attempt, isOwn),
    });
    ctx.hooks.collectors.tap(ctx.name, (collectors) => collectors.add(collector));
  },
});
