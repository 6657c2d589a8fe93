import { DispatchFailed, toReason } from '@svc/agent';
import type Docker from 'dockerode';
import readline from 'node:readline';
import { addAbortSignal, type Readable } from 'node:stream';
import type { PullPolicy } from '../pull-policy.js';
import { agentUser } from './agent-user.js';
import { findCredentials } from './credentials.js';
import { isDisconnect } from './engine.js';
import { parseImageName } from './image-name.js';

/** How often the log of a job tells how far a pull is, at most. */
const TELL_MS = 5000;

export interface ImageRequest {
  readonly image: string;
  readonly policy: PullPolicy;
  readonly nodeName: string;
  /** Aborts when it is not wanted any more. */
  readonly signal: AbortSignal;
  /** Takes a line for the log of the job. */
  tell(line: string): void;
}

export interface ImageFacts {
  readonly id: string;
  /** Its variables, as NAME=VALUE. */
  readonly env: readonly string[];
}

/** A pull on which one or more attempts wait. */
interface Pull {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  readonly progress: PullProgress;
  waiting: number;
}

/** One message of the engine during a pull. */
interface PullMessage {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

/** The images of an engine. Attempts that want the same image at the same time share one pull. */
export class Images {
  readonly #client: () => Promise<Docker>;
  readonly #findCredentials: typeof findCredentials;
  readonly #tellMs: number;
  readonly #pulls = new Map<string, Pull>();

  constructor(client: () => Promise<Docker>, find = findCredentials, tellMs = TELL_MS) {
    this.#client = client;
    this.#findCredentials = find;
    this.#tellMs = tellMs;
  }

  /** Makes sure that the image is there. Throws DispatchFailed with the reason and what to do; rejects when the signal aborts. */
  async ensure(request: ImageRequest): Promise<ImageFacts> {
    const { image, policy, nodeName, signal } = request;
    signal.throwIfAborted();
    const there = policy === 'always' ? null : await this.#inspect(image);
    if (there !== null) return there;
    if (policy === 'never')
      throw new DispatchFailed(
        `the image ${image} is not on ${nodeName}, and is not pulled (pull: never): run docker pull ${image} there, or submit the job with pull: missing`,
      );
    await this.#pull(request);
    const pulled = await this.#inspect(image);
    if (pulled === null)
      throw new DispatchFailed(`the image ${image} was pulled, and is gone again from ${nodeName}`);
    return pulled;
  }

  async #inspect(image: string): Promise<ImageFacts | null> {
    try {
      const { Id, Config } = await (await this.#client()).getImage(image).inspect();
      return { id: Id, env: Config?.Env ?? [] };
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 404) return null;
      throw error;
    }
  }

  async #pull(request: ImageRequest): Promise<void> {
    const { image, signal, tell } = request;
    const pull = this.#pulls.get(image) ?? this.#begin(image);
    pull.waiting += 1;
    const startedMs = performance.now();
    tell(`[svc] pulling ${image}`);
    const timer = setInterval(() => {
      const line = pull.progress.next();
      if (line !== null) tell(`[svc] pulling ${image}: ${line}`);
    }, this.#tellMs);
    try {
      await untilAborted(pull.done, signal);
      tell(`[svc] pulled ${image} in ${Math.ceil((performance.now() - startedMs) / 1000)} s`);
    } catch (error) {
      if (signal.aborted || isDisconnect(error)) throw error;
      throw new DispatchFailed(explain(error, request));
    } finally {
      clearInterval(timer);
      pull.waiting -= 1;
      if (pull.waiting === 0) this.#end(image, pull);
    }
  }

  #begin(image: string): Pull {
    const abort = new AbortController();
    const progress = new PullProgress();
    const pull = { done: this.#run(image, progress, abort.signal), abort, progress, waiting: 0 };
    pull.done.catch(() => {});
    this.#pulls.set(image, pull);
    return pull;
  }

  /** Nobody waits for it any more. The engine keeps the layers that it has, so a later pull goes on from there. */
  #end(image: string, pull: Pull): void {
    pull.abort.abort();
    if (this.#pulls.get(image) === pull) this.#pulls.delete(image);
  }

  async #run(image: string, progress: PullProgress, abortSignal: AbortSignal): Promise<void> {
    const parsed = parseImageName(image);
    const credentials = await this.#findCredentials(parsed);
    const from = { fromImage: parsed.name, tag: parsed.tag, abortSignal };
    const client = await this.#client();
    const answer = await client.createImage(credentials ?? undefined, from);
    // The client lets go of the signal with the beginning of the answer.
    const input = addAbortSignal(abortSignal, answer as Readable);
    for await (const line of readline.createInterface({ input })) {
      const message = JSON.parse(line) as PullMessage;
      if (message.error !== undefined) throw new Error(message.error);
      progress.take(message);
    }
  }
}

/** How far a pull is: the sum over the layers whose size the engine has told. */
export class PullProgress {
  readonly #layers = new Map<string, { current: number; total: number }>();
  #told = '';

  take({ id, status, progressDetail }: PullMessage): void {
    if (id === undefined) return;
    const { current, total } = progressDetail ?? {};
    if (status === 'Downloading' && current !== undefined && total !== undefined && total > 0)
      this.#layers.set(id, { current, total });
    const layer = this.#layers.get(id);
    if (layer !== undefined && (status === 'Download complete' || status === 'Pull complete'))
      layer.current = layer.total;
  }

  /** As `45 % of 3.2 GB`; null when nothing new is known. */
  next(): string | null {
    const layers = [...this.#layers.values()];
    const total = layers.reduce((sum, layer) => sum + layer.total, 0);
    if (total === 0) return null;
    const current = layers.reduce((sum, layer) => sum + layer.current, 0);
    const text = `${Math.floor((100 * current) / total)} % of ${toSize(total)}`;
    if (text === this.#told) return null;
    this.#told = text;
    return text;
  }
}

function toSize(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ['GB', 1e9] : ['MB', 1e6];
  return `${(bytes / size).toFixed(1)} ${unit}`;
}

function untilAborted(done: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** What the engine or the registry said, and what to do about it. */
function explain(error: unknown, { image, nodeName }: ImageRequest): string {
  const reason = toReason(error)
    .replace(/^\(HTTP code \d+\) [\w ]+ - /, '')
    .trim();
  return `the image ${image} cannot be pulled on ${nodeName}: ${reason}${toFix(reason, image)}`;
}

function toFix(reason: string, image: string): string {
  const { registry } = parseImageName(image);
  const host = registry === 'docker.io' ? '' : ` ${registry}`;
  if (/denied|unauthorized|authentication|no basic auth/i.test(reason))
    return `. Check the name; for a private image run docker login${host} there as ${agentUser().name}, the user of the agent`;
  if (/manifest unknown|manifest for|name unknown|not found/i.test(reason))
    return '. Check its name and its tag';
  if (/no space left/i.test(reason)) return '. Free space there, as with docker image prune';
  if (/no such host|dial tcp|timeout|deadline|refused|unreachable|certificate|HTTPS client/i.test(reason))
    return `. Check that the host reaches ${registry}, or load the image there with docker load`;
  return '';
}
