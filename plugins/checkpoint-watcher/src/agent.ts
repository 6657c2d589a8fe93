import { defineAgentPlugin } from '@svc/agent';
import { jobFilesCollector } from '@svc/agent/job-files-collector';
import type { TArray, TNumber, TObject, TString } from 'typebox';
import { AttemptCheckpoints } from './agent/attempt-checkpoints.js';
import { candidateSelector, DEFAULT_DIRECTORIES, DEFAULT_FILES } from './agent/candidates.js';

const NAME = 'checkpoint-watcher';

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
    const collector = jobFilesCollector(ctx, {
      name: NAME,
      dirs: checkpoint_dirs,
      select: candidateSelector(directories, files),
      open: (attempt, isOwn) => AttemptCheckpoints.open(ctx, attempt, isOwn, settle_s * 1000),
    });
    ctx.hooks.collectors.tap(ctx.name, (collectors) => collectors.add(collector));
  },
});
