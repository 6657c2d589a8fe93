import type { Exit } from '@svc/contract';
import type { AgentKernel } from '../core/agent-kernel.js';
import {
  attemptEnded,
  attemptPrepare,
  attemptStarted,
  attemptStarting,
  type AttemptAddition,
  type AttemptDraft,
  type EndedAttempt,
  type StartedAttempt,
  type StartingAttempt,
} from '../core/attempt-hooks.js';
import type { CollectedEnd, AttemptCollector, Collecting } from '../core/collector.js';
import { toReason, type AgentLog } from '../core/log.js';
import { attemptKey } from '../core/runner.js';

/** What the plugins do for each attempt: their hooks, and the collectors that follow it. */
export class AttemptPlugins {
  readonly #kernel: Pick<AgentKernel, 'fire'>;
  readonly #collectors: readonly AttemptCollector[];
  readonly #log: AgentLog;
  readonly #collecting = new Map<string, Promise<(Collecting | null)[]>>();

  constructor({ fire, collectors }: Pick<AgentKernel, 'fire' | 'collectors'>, log: AgentLog) {
    this.#kernel = { fire };
    this.#collectors = collectors.filter((collector) => collector.of === 'attempt');
    this.#log = log;
  }

  /** Rejects with what the user is to read. */
  async prepare(draft: AttemptDraft): Promise<Required<AttemptAddition>> {
    const additions = await this.#kernel.fire(attemptPrepare, draft);
    return {
      env: Object.assign({}, ...additions.map(({ env }) => env)) as Record<string, string>,
      files: additions.flatMap(({ files = [] }) => files),
      reads: additions.flatMap(({ reads = [] }) => reads),
      notes: Object.assign({}, ...additions.map(({ notes }) => notes)) as Record<string, unknown>,
    };
  }

  /** Rejects with what the user is to read. */
  async starting(attempt: StartingAttempt): Promise<void> {
    await this.#kernel.fire(attemptStarting, attempt);
  }

  started(attempt: StartedAttempt): void {
    void this.#kernel.fire(attemptStarted, attempt);
    const collecting = Promise.all(this.#collectors.map((collector) => this.#start(collector, attempt)));
    this.#collecting.set(attemptKey(attempt), collecting);
  }

  /** What became of it, with what the plugins have found out. Never rejects. */
  async ended(exit: Exit, attempt: EndedAttempt): Promise<Exit> {
    await this.#close(attemptKey(attempt), { exit, wasStopped: attempt.wasStopped });
    try {
      return await this.#kernel.fire(attemptEnded, exit, attempt);
    } catch (error) {
      const { job_id, attempt: number } = attempt;
      this.#log.error('what became of an attempt could not be looked into', {
        job_id,
        attempt: number,
        reason: toReason(error),
      });
      return exit;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#collecting.keys()].map((key) => this.#close(key)));
  }

  async #start(collector: AttemptCollector, attempt: StartedAttempt): Promise<Collecting | null> {
    try {
      return await collector.start(attempt);
    } catch (error) {
      this.#complain(collector.name, error);
      return null;
    }
  }

  async #close(key: string, ended?: CollectedEnd): Promise<void> {
    const collecting = await this.#collecting.get(key);
    this.#collecting.delete(key);
    for (const each of collecting ?? []) {
      await Promise.resolve(each?.close(ended)).catch((error: unknown) => this.#complain(key, error));
    }
  }

  #complain(name: string, error: unknown): void {
    this.#log.warn('a collector of an attempt failed', { name, reason: toReason(error) });
  }
}
