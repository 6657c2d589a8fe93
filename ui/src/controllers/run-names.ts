import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Api } from '../data/api.js';
import { getRun } from '../data/runs.js';
import { shortId } from '../format.js';

/** The names of runs that a list shows by their ids. Each is asked for once; until it is there, the end of the id stands for it. */
export class RunNames implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #names = new Map<string, string>();

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostConnected(): void {}

  of(runId: string): string {
    const name = this.#names.get(runId);
    if (name === undefined) void this.#load(runId);
    return name ?? shortId(runId);
  }

  /** A run that was deleted meanwhile keeps the end of its id. */
  async #load(runId: string): Promise<void> {
    this.#names.set(runId, shortId(runId));
    const run = await getRun(this.#api(), runId).catch(() => null);
    if (run === null) return;
    this.#names.set(runId, run.name);
    this.#host.requestUpdate();
  }
}
