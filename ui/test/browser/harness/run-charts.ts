import type { RunSummary, Series } from '@svc/contract';
import type { ApiRequest, ApiTable } from './fake-api.js';
import { MINUTE, NOW, idOf, metric, run, series, summary } from './records.js';
import type { PHONE, Stage } from './stage.js';

export const RUN_ID = idOf('run', 1);

/** The charts of a run on a stage: mounts them with a server that has these metrics. */
export function useRunCharts(stage: Stage) {
  const chart = (name: string) =>
    stage.page.locator('svc-chart').filter({ has: stage.page.getByRole('heading', { name, exact: true }) });
  const mount = (
    metrics: Record<string, Partial<Series> & { values: Series['values'] }>,
    more: { live?: boolean; api?: ApiTable; viewport?: typeof PHONE } = {},
  ) => {
    const all = Object.fromEntries(
      Object.entries(metrics).map(([name, { values, ...rest }]) => [name, series(values, rest)]),
    );
    return stage.mount('svc-run-charts', {
      properties: { runId: RUN_ID, summary: summaryOf(metrics), live: more.live ?? false },
      api: {
        'GET /runs/{run_id}/metrics': ({ query }: ApiRequest) => {
          const names = query.get('names')!.split(',');
          return { run_id: RUN_ID, series: Object.fromEntries(names.map((name) => [name, all[name]!])) };
        },
        'GET /runs/{run_id}': run(1),
        ...more.api,
      },
      ...(more.viewport && { viewport: more.viewport }),
    });
  };
  const summaryOf = (
    metrics: Record<string, { values: Series['values'] }>,
    counts: Record<string, number> = {},
  ): RunSummary =>
    summary(
      run(1),
      Object.fromEntries(
        Object.entries(metrics).map(([name, { values }]) => [
          name,
          metric({
            count: counts[name] ?? values.length,
            latest: { value: values.at(-1) ?? 0, step: 10 * (values.length - 1), ts: NOW - MINUTE },
            best: null,
          }),
        ]),
      ),
    );
  const headings = () => stage.page.locator('svc-chart h3').allInnerTexts();
  const metricReads = () => stage.api.requests.filter((request) => request.includes('/metrics?'));
  return { chart, mount, summaryOf, headings, metricReads };
}
