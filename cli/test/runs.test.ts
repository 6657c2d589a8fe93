import type { ListedCheckpoint, MetricSummary, Run, RunSummary, SeriesByName } from '@svc/contract';
import { expect } from 'chai';
import { toCheckpointLines } from '../src/commands/checkpoint-lines.js';
import { toRunLines, toRunTable } from '../src/commands/runs.js';

const RUN = {
  id: 'run_1',
  name: 'mlp',
  status: 'RUNNING',
  step: 3,
  max_steps: 10,
  source: 'sdk',
  tags: [],
  started_at: Date.now(),
  stale_since: null,
} as unknown as Run;

describe('svc runs', () => {
  const lineOf = (changes: Partial<Run>): string =>
    toRunTable([{ ...RUN, ...changes }], new Map(), (style, text) => `<${style}>${text}</>`)[1] ?? '';

  it('shows that a run is stale', () => {
    expect(lineOf({})).to.contain('<cyan>RUNNING</>');
    expect(lineOf({ stale_since: 1 })).to.contain('<yellow>RUNNING, stale</>');
  });
});

describe('svc runs on a terminal', () => {
  const runs = [{ ...RUN, project_id: 'prj_1', finished_at: Date.now() }];
  const shown = (width: number) =>
    toRunTable(
      runs,
      new Map([
        ['run_1', 'gpu-7'],
        ['prj_1', 'vision'],
      ]),
      (_style, text) => text,
      width,
    );

  it('shows project, node and duration where there is room, and what matters most elsewhere', () => {
    const wide = shown(200).join('\n');
    for (const text of ['PROJECT', 'vision', 'NODE', 'gpu-7', 'RAN FOR']) expect(wide).to.contain(text);
    const narrow = shown(50);
    expect(Math.max(...narrow.map((line) => line.length))).to.be.at.most(50);
    expect(narrow[0])
      .to.match(/^ID +NAME +PROJECT +STATUS +STEP/)
      .and.not.contain('NODE');
  });
});

describe('svc run', () => {
  it('marks the best checkpoint, and names the node of a checkpoint and its whole path, however narrow the terminal', () => {
    const path = `/home/ada/.svc/jobs/job_1/attempt-1/work/${'a'.repeat(80)}/model.pt`;
    const checkpoint = {
      id: 'ckpt_1',
      step: 3,
      size: 5,
      created_at: Date.now(),
      path,
      is_best: true,
      deleted_at: null,
    } as ListedCheckpoint;
    const shown = toCheckpointLines([checkpoint], 'gpu-7', (_style, text) => text, 60);
    expect(shown[1]).to.match(/^CHECKPOINT +STEP +BEST +SIZE +CREATED +NODE +PATH$/);
    expect(shown[2])
      .to.match(/^ckpt_1 +3 +yes /)
      .and.contain(`  gpu-7  ${path}`);
  });

  it('shows which checkpoints were found to be gone', () => {
    const of = (id: string, deleted_at: number | null) =>
      ({
        id,
        step: 3,
        size: 5,
        created_at: Date.now(),
        path: '/m.pt',
        is_best: false,
        deleted_at,
      }) as ListedCheckpoint;
    const shown = (...all: ListedCheckpoint[]) =>
      toCheckpointLines(all, 'gpu-7', (_style, text) => text, 200).slice(1);
    const [head, gone, there] = shown(of('ckpt_1', Date.now() - 120_000), of('ckpt_2', null));
    expect(head).to.match(/CREATED +DELETED +NODE/);
    expect(gone).to.match(/0s ago +2m ago +gpu-7/);
    expect(there).to.match(/0s ago +gpu-7/);
    expect(shown(of('ckpt_2', null))[0]).not.to.contain('DELETED');
  });

  it('shows config and environment with flat names, cut and bounded', () => {
    const health = { status: 'ok', reasons: [] };
    const summary = { ...RUN, health, progress: null, metrics: {} } as unknown as RunSummary;
    const run = { ...RUN, job_id: null, notes: '' };
    const shown = (config: object, environment: object = {}, width = 40) =>
      toRunLines({ ...run, config, environment } as Run, summary, {}, (_style, text) => text, width);
    const lines = shown(
      {
        optimizer: { lr: 0.1, betas: [0.9, 0.99] },
        api_key: '***',
        text: 'a\nb',
        none: {},
        long: 'x'.repeat(999),
      },
      { python: '3.11' },
    );
    const at = lines.indexOf('Config');
    expect(lines.slice(at - 1, at + 10)).to.deep.equal([
      '',
      'Config',
      'optimizer.lr     0.1',
      'optimizer.betas  [0.9,0.99]',
      'api_key          ***',
      'text             a b',
      'none             {}',
      `long             ${'x'.repeat(22)}…`,
      '',
      'Environment',
      'python           3.11'.replace(/ {11}/, '  '),
    ]);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_none, index) => [`k${index}`, index]));
    expect(shown(many).at(-1)).to.equal('... and 20 more, which svc run run_1 --json shows');
    expect(shown({}, {}).join()).to.not.contain('Config');
  });

  const metric = (changes: Partial<MetricSummary>): MetricSummary => ({
    latest: { value: 0.25, step: 9, ts: 0 },
    best: { value: 0.125, step: 4 },
    trend: 'stable',
    direction: 'minimize',
    guessed: true,
    guessed_from: 'loss',
    is_primary: false,
    count: 9,
    ...changes,
  });
  const linesOf = (metrics: Record<string, MetricSummary>): string[] => {
    const health = { status: 'ok', reasons: [] };
    const summary = { ...RUN, health, progress: null, metrics } as unknown as RunSummary;
    const run = { ...RUN, job_id: null, config: {}, environment: {}, notes: '' };
    return toRunLines(run, summary, {}, (_style, text) => text);
  };

  it('shows no best value while the direction is unknown, and names the command that sets it', () => {
    const lines = linesOf({ loss: metric({}), lr: metric({ best: null, guessed_from: null }) });
    expect(lines.find((line) => line.startsWith('loss'))).to.match(/0\.25 +0\.125 +low +4 /);
    expect(lines.find((line) => line.startsWith('lr'))).to.match(/0\.25 +- +unknown +- /);
    expect(lines.at(-1)).to.equal(
      'direction unknown, so no best value (1 of 2): svc metrics set NAME --direction minimize|maximize',
    );
    expect(linesOf({ loss: metric({}) }).join()).not.to.include('unknown');
  });

  it('gives the curve what the names of the metrics leave', () => {
    const health = { status: 'ok', reasons: [] };
    const name = 'validation/accuracy';
    const summary = { ...RUN, health, progress: null, metrics: { [name]: metric({}) } };
    const run = { ...RUN, job_id: null, config: {}, environment: {}, notes: '' };
    const values = Array.from({ length: 64 }, (_, index) => index);
    const series = { [name]: { values } } as unknown as SeriesByName;
    const shown = (width: number) =>
      toRunLines(run, summary as unknown as RunSummary, series, (_style, text) => text, width).at(-1) ?? '';
    for (const [width, curve] of [
      [80, 19],
      [120, 32],
    ] as const) {
      expect(shown(width)).to.match(new RegExp(`^${name} .* [▁-█]{${curve}}$`));
      expect(shown(width)).to.have.length.at.most(width);
    }
  });

  it('is at 99 % until it has ended', () => {
    const shown = (status: Run['status']) =>
      toRunLines(
        { ...RUN, status, job_id: null, config: {}, environment: {}, notes: '' },
        {
          ...RUN,
          status,
          step: 10,
          health: { status: 'ok', reasons: [] },
          metrics: {},
        } as unknown as RunSummary,
        {},
        (_style, text) => text,
      ).join('\n');
    expect(shown('RUNNING')).to.contain('(99 %)').and.not.contain('100 %');
    expect(shown('SUCCEEDED')).to.contain('(100 %)');
  });
});
