import path from 'node:path';
import type { StartedAttempt } from './attempt-hooks.js';
import { AttemptOwners, type WrittenFile } from './attempt-owners.js';
import type { AttemptCollector, CollectedEnd, Collecting } from './collector.js';
import { realPaths, type Walked } from './job-files.js';
import { JobFilesWatch, type WatchOptions } from './job-files-watch.js';
import { writtenFolders } from './mounts.js';
import type { AgentPluginContext } from './plugin.js';
import { repeated } from './repeated.js';

/** An attempt that reports to a run. */
export type ReportingAttempt = StartedAttempt & { readonly runId: string };

/** Whether a file that may belong to several attempts is this one's; null: that cannot be told now. */
export type OwnFile = (file: WrittenFile) => Promise<boolean | null>;

/** Follows files of one kind for one attempt. */
export interface JobFilesFollower {
  /** Takes what a walk has found. `isLast`: none comes after it. Answers whether to look again soon. */
  take(walked: Walked, options: { readonly isLast: boolean }): Promise<boolean>;
  /** Called again and again, `pauseMs` after its end. It must not reject. */
  work(): Promise<void>;
  pauseMs(): number;
  /** At the end of the attempt, after the last walk. */
  finish(ended?: CollectedEnd): Promise<void>;
}

export interface JobFilesOptions {
  readonly name: string;
  /** Folders beside the working directory; a path that is not absolute is below it. */
  readonly dirs: readonly string[];
  readonly select: WatchOptions['select'];
  readonly open: (attempt: ReportingAttempt, isOwn: OwnFile) => Promise<JobFilesFollower>;
}

/** A collector that follows files which the processes of an attempt write. */
export function jobFilesCollector(
  ctx: Pick<AgentPluginContext, 'signal' | 'stateDir'>,
  { name, dirs, select, open }: JobFilesOptions,
): AttemptCollector {
  const owners = new AttemptOwners(name);

  async function start(attempt: StartedAttempt): Promise<Collecting> {
    const { runId, workingDir, mounts } = attempt;
    if (runId === null) return { close: () => {} };
    const folders = [workingDir, ...dirs.map((dir) => path.resolve(workingDir, dir))];
    const roots = [...(await realPaths(folders)), ...writtenFolders(mounts)];
    const leave = await owners.enter(attempt, roots);
    const follower = await open({ ...attempt, runId }, (file) => owners.isOf(attempt, file));
    const watch = new JobFilesWatch({
      roots,
      select,
      except: [ctx.stateDir],
      onWalked: (walked, isLast) => follower.take(walked, { isLast }),
      onSign: () => owners.notice(attempt),
    });
    const working = repeated(
      () => follower.work(),
      () => follower.pauseMs(),
    );
    return {
      async close(ended) {
        await Promise.all([watch.close(), working.close()]);
        // An agent that closes leaves the attempt to the next one.
        if (!ctx.signal.aborted) {
          await watch.look();
          await follower.finish(ended);
        }
        await leave();
      },
    };
  }

  return { name, of: 'attempt', start };
}
