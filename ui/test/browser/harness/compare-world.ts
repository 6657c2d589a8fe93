import type { Run, RunComparison, RunSummary } from '@svc/contract';
import { Refusal, type ApiRequest, type ApiTable } from './fake-api.js';
import { metric, run, series, summary } from './records.js';
import type { Stage } from './stage.js';

export const METRICS: RunSummary['metrics'] = {
  'val/loss': metric({ is_primary: true }),
  'val/accuracy': metric({ direction: 'maximize', guessed_from: 'accuracy' }),
  lr: metric({ guessed_from: null, best: null, latest: { value: 0.001, step: 90, ts: 1 } }),
};
/** The first run has the lowest value of each metric, the last one the highest. */
const lossOf = (number: number) => number / 10;

function rank(ids: readonly string[], name: string): RunComparison {
  const direction = name.includes('accuracy') ? 'maximize' : 'minimize';
  const sorted = direction === 'minimize' ? [...ids] : [...ids].reverse();
  return {
    metric: name,
    direction,
    protocol: null,
    tied_ids: [sorted[0]!],
    next_actions: [],
    best_run_id: sorted[0]!,
    entries: sorted.map((id, at) => ({
      run_id: id,
      name: id,
      best: lossOf(Number(id.slice(-4))),
      best_source: at === 0 ? 'evaluation' : 'training_fallback',
      step: 40,
      evaluation_id: null,
      rank: at + 1,
      is_best: at === 0,
      latest: 0.5,
    })),
  };
}

/** A server that has these runs, each with the three metrics. */
export function serve(runs: readonly Run[], metrics: RunSummary['metrics'] = METRICS): ApiTable {
  const find = (id: string) => runs.find((one) => one.id === id);
  const gone = new Refusal(404, 'not_found', 'no such run');
  return {
    'GET /runs/{run_id}': ({ params }: ApiRequest) => find(params['run_id']!) ?? gone,
    'GET /runs/{run_id}/summary': ({ params }: ApiRequest) => {
      const of = find(params['run_id']!);
      return of ? summary(of, metrics) : gone;
    },
    'GET /runs/compare': ({ query }: ApiRequest) =>
      rank(query.get('ids')!.split(','), query.get('metric') ?? 'val/loss'),
    'POST /runs/metrics:query': ({ body }: ApiRequest) => {
      const { run_ids, names } = body as { run_ids: string[]; names: string[] };
      const points = (id: string) =>
        series(Array.from({ length: 30 }, (_, at) => lossOf(Number(id.slice(-4))) + 1 / (at + 1)));
      return {
        series: Object.fromEntries(
          run_ids.map((id) => [id, Object.fromEntries(names.map((name) => [name, points(id)]))]),
        ),
      };
    },
  };
}

export const idsOf = (runs: readonly Run[]) => runs.map(({ id }) => id).join(',');

/** The page of a comparison on this stage. */
export const comparing = (stage: Stage) => ({
  mount: (of: readonly Run[], query = '', more: object = {}, api: ApiTable = {}) =>
    stage.mount('svc-compare-page', {
      address: `/compare?runs=${idsOf(of)}${query}`,
      api: { ...serve(of), ...api },
      ...more,
    }),
  param: (name: string) => new URL(stage.page.url()).searchParams.get(name),
  colors: () =>
    stage.page
      .locator('svc-compare-table .swatch')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor)),
  untilDrawn: (count: number) =>
    stage.untilEqual(() => stage.page.locator('svc-chart .uplot').count(), count),
});

export const configured = (number: number, changes: Partial<Run> = {}) =>
  run(number, {
    status: 'SUCCEEDED',
    config: {
      lr: 10 ** -number,
      optimizer: number % 2 === 0 ? 'sgd' : 'adam',
      model: { depth: 18 },
      batch: 8 * number,
    },
    ...changes,
  });
