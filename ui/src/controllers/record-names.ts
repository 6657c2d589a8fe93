import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { toApiError, type Api } from '../data/api.js';
import { getJob } from '../data/jobs.js';
import { getExperiment, getProject } from '../data/projects.js';
import { getRun } from '../data/runs.js';
import { shortId } from '../format.js';
import { historyMemory, type Kept } from '../history-memory.js';

interface KeptNames extends Kept {
  readonly names: ReadonlyMap<string, string>;
}

/** By the prefix of the id. */
const READERS: Readonly<Record<string, (api: Api, id: string) => Promise<{ name: string }>>> = {
  run: getRun,
  job: getJob,
  prj: getProject,
  exp: getExperiment,
};

/**
 * The names of records that a page has by their ids. Each is asked for once; until it is there, the name stands for it that the page had
 * when it was left, or the end of the id.
 */
export class RecordNames implements ReactiveController {
  readonly #host: ReactiveControllerHost & Element;
  readonly #api: () => Api;
  readonly #names = new Map<string, string>();
  readonly #asked = new Set<string>();
  #stopKeeping = (): void => {};

  constructor(host: ReactiveControllerHost & Element, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostConnected(): void {
    const part = `names of ${this.#host.localName}`;
    for (const [id, name] of historyMemory.get<KeptNames>(part)?.names ?? []) this.#names.set(id, name);
    this.#stopKeeping = historyMemory.keep(part, (): KeptNames => ({ names: new Map(this.#names) }));
  }

  hostDisconnected(): void {
    this.#stopKeeping();
  }

  /** Of a run, job, project or experiment, by the canonical form of its id. */
  readonly of = (id: string): string => {
    if (!this.#asked.has(id)) void this.#load(id);
    return this.#names.get(id) ?? shortId(id);
  };

  /** One that was deleted meanwhile keeps the end of its id; a server that does not answer is asked again. */
  async #load(id: string): Promise<void> {
    this.#asked.add(id);
    try {
      const record = await READERS[id.split('_')[0]!]?.(this.#api(), id);
      if (!record) return;
      this.#names.set(id, record.name);
      this.#host.requestUpdate();
    } catch (error) {
      if (!toApiError(error).isFinal) this.#asked.delete(id);
    }
  }
}
