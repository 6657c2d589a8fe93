import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { toApiError, type Api } from '../data/api.js';
import { getJob } from '../data/jobs.js';
import { getExperiment, getProject } from '../data/projects.js';
import { getRun } from '../data/runs.js';
import { shortId } from '../format.js';

/** By the prefix of the id. */
const READERS: Readonly<Record<string, (api: Api, id: string) => Promise<{ name: string }>>> = {
  run: getRun,
  job: getJob,
  prj: getProject,
  exp: getExperiment,
};

/** The names of records that a page has by their ids. Each is asked for once; until it is there, the end of the id stands for it. */
export class RecordNames implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;
  readonly #names = new Map<string, string>();

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostConnected(): void {}

  /** Of a run, job, project or experiment, by the canonical form of its id. */
  readonly of = (id: string): string => {
    const name = this.#names.get(id);
    if (name === undefined) void this.#load(id);
    return name ?? shortId(id);
  };

  /** One that was deleted meanwhile keeps the end of its id; a server that does not answer is asked again. */
  async #load(id: string): Promise<void> {
    this.#names.set(id, shortId(id));
    try {
      const record = await READERS[id.split('_')[0]!]?.(this.#api(), id);
      if (!record) return;
      this.#names.set(id, record.name);
      this.#host.requestUpdate();
    } catch (error) {
      if (!toApiError(error).isFinal) this.#names.delete(id);
    }
  }
}
