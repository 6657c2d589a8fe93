import type { Experiment, MetricDefinition, Project, Scope } from '@svc/contract';
import type { TestAnswer, TestDatabase, TestKernel } from '@svc/kernel/testing';
import { Rig } from '../../../runs/test/support/rig.js';
import { metricDefinitionsRef, type MetricDefinitions } from '../../src/index.js';

/** The plugin on a real server, with two projects and an experiment in the first. */
export class DefinitionsRig {
  private constructor(
    readonly http: Rig,
    readonly vision: Project,
    readonly speech: Project,
    readonly resnet: Experiment,
  ) {}

  static async start(database: TestDatabase): Promise<DefinitionsRig> {
    const http = await Rig.start({ database });
    const create = async (path: string, body: object) => (await http.post(path, body)).body;
    const vision = (await create('/projects', { name: 'vision' })) as Project;
    const speech = (await create('/projects', { name: 'speech' })) as Project;
    const experiment = { name: 'resnet', project_id: vision.id };
    return new DefinitionsRig(http, vision, speech, (await create('/experiments', experiment)) as Experiment);
  }

  get kernel(): TestKernel {
    return this.http.kernel;
  }

  get service(): MetricDefinitions {
    return this.kernel.use(metricDefinitionsRef);
  }

  /** As when points of metrics with these names come in. */
  async see(...names: string[]): Promise<void> {
    await this.kernel.db.transaction((trx) => this.service.ensure(trx, names, Date.now()));
  }

  async forget(): Promise<void> {
    const { db } = this.kernel;
    await db('metric_definitions').delete();
    await db('metric_levels').update({ primary_name: null });
  }

  /** `name` as it stands in the path. */
  put(name: string, body: object = {}, scope: Scope = 'write'): Promise<TestAnswer> {
    return this.#request('PUT', `/metric-definitions/${name}`, scope, body);
  }

  patch(name: string, body: object = {}, scope: Scope = 'write'): Promise<TestAnswer> {
    return this.#request('PATCH', `/metric-definitions/${name}`, scope, body);
  }

  setPrimary(body: object, scope: Scope = 'write'): Promise<TestAnswer> {
    return this.#request('PUT', '/primary-metric', scope, body);
  }

  delete(path: string): Promise<TestAnswer> {
    return this.#request('DELETE', path, 'write');
  }

  list(query = '', scope: Scope = 'read'): Promise<TestAnswer> {
    return this.#request('GET', `/metric-definitions${query}`, scope);
  }

  async items(query = ''): Promise<MetricDefinition[]> {
    return ((await this.list(query)).body as { items: MetricDefinition[] }).items;
  }

  /** What applies there, by name: `<level> <direction>`, with a star for the primary one. */
  async applying(query = ''): Promise<Record<string, string>> {
    const items = await this.items(query);
    return Object.fromEntries(
      items.map(({ name, level, direction, is_primary }) => [
        name,
        `${level} ${direction}${is_primary ? ' *' : ''}`,
      ]),
    );
  }

  #request(method: string, path: string, scope: Scope, body?: object): Promise<TestAnswer> {
    return this.kernel.request(method, path, { token: this.http.tokens[scope], ...(body && { body }) });
  }
}
