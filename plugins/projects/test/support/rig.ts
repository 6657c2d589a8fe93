import { definePlugin } from '@svc/kernel';
import {
  createTestKernel,
  fakeClock,
  type FakeClock,
  type TestAnswer,
  type TestDatabase,
  type TestKernel,
} from '@svc/kernel/testing';
import { countUsage, moveExperiment, projects } from '@svc/plugin-projects';

/** Keeps records under projects, as runs and jobs do: a table of its own, counted and moved through the hooks. */
const keeperOf = (noun: string) =>
  definePlugin({
    name: `${noun}-keeper`,
    requires: ['projects'],
    setup(ctx) {
      ctx.migrations([
        {
          name: '0001-init',
          up: (db) =>
            db.schema.createTable(`test_${noun}`, (table) => {
              table.string('project_id').references('id').inTable('projects');
              table.string('experiment_id').references('id').inTable('experiments');
            }),
        },
      ]);
      ctx.owns({ table: `test_${noun}` });
      ctx.tap(countUsage, async ({ db, level, ids, noun: wanted = noun }) => {
        if (wanted !== noun) return undefined;
        const rows = await db(`test_${noun}`)
          .whereIn(`${level}_id`, ids)
          .select({ id: `${level}_id` });
        const counts = new Map<string, number>();
        for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
        return { noun, counts };
      });
      ctx.tap(moveExperiment, async (db, experiment_id, project_id) => {
        await db(`test_${noun}`).where({ experiment_id }).update({ project_id });
      });
    },
  })();

/** The plugin over HTTP, with runs and jobs that are rows of test tables. */
export class Rig {
  private nameCount = 0;

  private constructor(
    readonly kernel: TestKernel,
    readonly clock: FakeClock,
  ) {}

  static async start(database: TestDatabase): Promise<Rig> {
    const clock = fakeClock();
    const plugins = [projects(), keeperOf('runs'), keeperOf('jobs')];
    return new Rig(await createTestKernel({ plugins, database, clock }), clock);
  }

  readonly call = (method: string, path: string, body?: unknown, token = 'write'): Promise<TestAnswer> =>
    this.kernel.request(method, path, { token, body });

  readonly newName = (): string => `name ${(this.nameCount += 1)}`;

  readonly createProject = async (name = this.newName()) =>
    (await this.call('POST', '/projects', { name })).body;

  readonly createExperiment = async (project_id: string, name = this.newName()) =>
    (await this.call('POST', '/experiments', { name, project_id })).body;

  /** One more run or job there. */
  readonly put = async (noun: string, project_id: string, experiment_id: string | null = null) => {
    await this.kernel.db(`test_${noun}`).insert({ project_id, experiment_id });
  };
}
