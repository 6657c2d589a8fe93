import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { routes, type Run } from '@svc/contract';
import { expect } from 'chai';
import { setFrameworksStage } from '../support/frameworks-stage.js';
import { ROOT, startProgram } from '../support/program.js';

/** What the tool's own reader says of a run: `[step, value]` or `[step, value, ts]` of each point. */
interface Written {
  readonly name: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, readonly (readonly unknown[])[]>>;
  readonly checkpoints?: readonly string[];
}

/** Files that the real tools write, against what their own readers say. `npm run test:frameworks` installs the tools. */
describe('svc import of files of real tools', function () {
  this.timeout(300_000);
  const stage = setFrameworksStage();

  const own = () => ({ PATH: process.env['PATH'] ?? '', HOME: stage.workplace.dir });

  async function write(directory: string, tool: string, ...options: string[]): Promise<Written[]> {
    mkdirSync(directory, { recursive: true });
    const script = path.join(ROOT, 'test/fixtures/frameworks/write-runs.py');
    const env = { ...own(), PYTHONPATH: path.join(ROOT, 'sdk/python'), HF_HUB_OFFLINE: '1' };
    const { status, stdout, stderr } = await startProgram(
      stage.python,
      [script, tool, directory, ...options],
      env,
      stage.workplace.dir,
    ).ended;
    expect(status, stderr).to.equal(0);
    return JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? '') as Written[];
  }

  async function svcImport(directory: string) {
    const { status, stdout, stderr } = await stage.workplace.svc(['import', directory, '--json']);
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as {
      runs: { name: string; run_id: string; points: { added: number; known: number } }[];
    };
  }

  async function stored(run_id: string) {
    const run = (await stage.server.client.call(routes.getRun, { params: { run_id } })) as Run;
    const { series } = await stage.server.client.call(routes.readSeries, {
      params: { run_id },
      query: { limit: 10_000 },
    });
    const { items } = await stage.server.client.call(routes.listRunCheckpoints, { params: { run_id } });
    return { run, series, checkpoints: items.map(({ path: place }) => place) };
  }

  const CASES: readonly (readonly string[])[] = [
    ['mlflow', 'folder'],
    ['mlflow', 'sqlite'],
    ['wandb'],
    ['tensorboard', 'torch'],
    ['tensorboard', 'tensorboardX'],
    ['hugging-face'],
    ['lightning'],
    ['svc'],
  ];
  for (const [tool, ...options] of CASES as readonly [string, ...string[]][])
    it([tool, ...options].join(' '), async () => {
      const directory = path.join(stage.workplace.dir, 'written', [tool, ...options].join('-'));
      const written = await write(directory, tool, ...options);
      const { runs } = await svcImport(directory);
      expect(runs.map(({ name }) => name)).to.have.members(written.map(({ name }) => name));
      for (const expected of written) {
        const { run_id } = runs.find(({ name }) => name === expected.name)!;
        const { run, series, checkpoints } = await stored(run_id);
        expect(run).to.include({ status: 'IMPORTED', source: 'import' });
        expect(Object.keys(series)).to.have.members(Object.keys(expected.metrics));
        for (const [name, points] of Object.entries(expected.metrics)) {
          const { steps, values, ts } = series[name]!;
          const withTime = points[0]!.length === 3;
          const found = steps.map((step, at) => [step, values[at], ...(withTime ? [ts[at]] : [])]);
          expect(found, name).to.deep.equal(points);
        }
        for (const [key, value] of Object.entries(expected.config ?? {}))
          expect(toText((run.config as Record<string, unknown>)[key]), key).to.equal(toText(value));
        expect(checkpoints).to.have.members([...(expected.checkpoints ?? [])]);
      }
      const again = await svcImport(directory);
      expect(again.runs.map(({ run_id, points }) => ({ run_id, added: points.added }))).to.deep.equal(
        runs.map(({ run_id }) => ({ run_id, added: 0 })),
      );
    });
});

/** MLflow keeps a number or a boolean as the text that Python has for it. */
function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === 'true' ? 'True' : text;
}
