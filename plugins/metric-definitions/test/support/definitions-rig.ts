import type { Experiment, MetricDefinition, Project } from '@svc/contract';
import { createTestKernel, type TestAnswer, type TestDatabase, type TestKernel } from '@svc/kernel/testing';
import { projects } from '@svc/plugin-projects';
import { metricDefinitions, metricDefinitionsRef, type MetricDefinitions } from '../../src/index.js';

/** The plugin on a real server, with two projects and an experiment in the first. */
export class DefinitionsRig {
  private constructor(
    readonly kernel: TestKernel,
    readonly vision: Project,
    readonly speech: Project,
    readonly resnet: Experiment,
  ) {}

  static async start(database: TestDatabase): Promise<DefinitionsRig> {
    const kernel = await createTestKernel({ plugins: [projects(), metricDefinitions()], database });
    const create = async (path: string, body: object) =>
      (await kernel.request('POST', path, { token: 'write', body })).body;
    const vision = (await create('/projects', { name: 'vision' })) as Project;
    const speech = (await create('/projects', { name: 'speech' })) as Project;
    const experiment = { name: 'resnet', project_id: vision.id };
    return new DefinitionsRig(
      kernel,
      vision,
      speech,
      (await create('/experiments', experiment)) as Experiment,
    );
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
  put(name: string, body: object = {}, token = 'write'): Promise<TestAnswer> {
    return this.kernel.request('PUT', `/metric-definitions/${name}`, { token, body });
  }

  patch(name: string, body: object = {}, token = 'write'): Promise<TestAnswer> {
    return this.kernel.request('PATCH', `/metric-definitions/${name}`, { token, body });
  }

  setPrimary(body: object, token = 'write'): Promise<TestAnswer> {
    return this.kernel.request('PUT', '/primary-metric', { token, body });
  }

  delete(path: string): Promise<TestAnswer> {
    return this.kernel.request('DELETE', path, { token: 'write' });
  }

  list(query = '', token = 'read'): Promise<TestAnswer> {
    return this.kernel.request('GET', `/metric-definitions${query}`, { token });
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
}
