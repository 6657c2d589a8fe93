import { watch, type FSWatcher } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { LOCAL_FILE_SYSTEMS } from './local-file-systems.js';
import { walkJobFiles, type Walked } from './job-files.js';

export interface WatchOptions {
  readonly roots: readonly string[];
  readonly select: Parameters<typeof walkJobFiles>[1];
  readonly except?: readonly string[];
  /** Called with what every walk has found; the next walk waits for it. Answers whether to look again soon. `isLast`: it is the one of `look`. */
  readonly onWalked: (walked: Walked, isLast: boolean) => Promise<boolean>;
  /** Called at once when something was made or written in a watched folder, for each sign of it. */
  readonly onSign?: () => void;
}

/** Must hold: a host with many jobs keeps watches for other programs. */
const MAX_WATCHED_FOLDERS = 1000;
const MIN_PAUSE_MS = 250;
/** Without a sign of a change the folders are looked into so often all the same: signs can be lost. */
const MAX_PAUSE_MS = 30_000;
/** Where the system gives no signs. */
const POLL_PAUSE_MS = 1000;
/** Walking takes at most this part of the time, whatever the job does in its folders. */
const BUSY_SHARE = 1 / 50;
/** The same, while nothing changes. */
const IDLE_SHARE = 1 / 500;

/** Looks for files below the folders of a job again and again: soon after one is made (inotify), or by polling where the system does not tell. */
export class JobFilesWatch {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #loop: Promise<void>;
  #isPolling = false;
  #isClosed = false;
  #isRoused = false;
  #wake = () => {};

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Resolves when nothing is looked into any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rouse();
    await this.#loop;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Looks once more, after the end. */
  async look(): Promise<void> {
    const { roots, select, onWalked } = this.#options;
    await onWalked(await walkJobFiles(roots, select, this.#options), true);
  }

  async #run(): Promise<void> {
    this.#isPolling = (await Promise.all(this.#options.roots.map(isRemote))).includes(true);
    while (!this.#isClosed) {
      const begun = performance.now();
      this.#isRoused = false;
      const walked = await walkJobFiles(this.#options.roots, this.#options.select, this.#options);
      // What was made in a new folder before it was watched is found by the next walk.
      if (!this.#isPolling && this.#watchFolders(walked.folders)) this.#isRoused = true;
      if (await this.#options.onWalked(walked, false)) this.#isRoused = true;
      if (!this.#isClosed) await this.#pause(performance.now() - begun);
    }
  }

  /** Whether there are new ones. */
  #watchFolders(folders: readonly string[]): boolean {
    const wanted = new Set(folders.slice(0, MAX_WATCHED_FOLDERS));
    if (folders.length > MAX_WATCHED_FOLDERS) this.#isPolling = true;
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    const fresh = [...wanted].filter((folder) => !this.#watchers.has(folder));
    for (const folder of fresh) this.#watchFolder(folder);
    return fresh.length > 0;
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (type) => {
        this.#options.onSign?.();
        // `rename`: an entry was made, moved or removed. Contents that change are no reason to look.
        if (type === 'rename') this.#rouse();
      });
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch (error) {
      // The host has no watches left. A folder that is gone is none to watch.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#isPolling = true;
    }
  }

  async #pause(costMs: number): Promise<void> {
    await this.#sleep(Math.max(MIN_PAUSE_MS, costMs / BUSY_SHARE), () => this.#isClosed);
    const idleMs = costMs / IDLE_SHARE;
    const pauseMs = this.#isPolling ? Math.max(POLL_PAUSE_MS, idleMs) : Math.max(MAX_PAUSE_MS, idleMs);
    await this.#sleep(pauseMs, () => this.#isClosed || this.#isRoused);
  }

  /** Until `isOver`, at most that long. */
  async #sleep(ms: number, isOver: () => boolean): Promise<void> {
    const until = performance.now() + ms;
    for (let left = ms; left > 0 && !isOver(); left = until - performance.now()) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, left).unref();
      });
      clearTimeout(timer);
    }
  }

  #rouse(): void {
    this.#isRoused = true;
    this.#wake();
  }
}

/** The system does not tell of changes that another host makes there. */
async function isRemote(folder: string): Promise<boolean> {
  const facts = await statfs(folder).catch(() => null);
  return facts !== null && !LOCAL_FILE_SYSTEMS.has(facts.type);
}
