import type { Run, RunSummary } from '@svc/contract';
import type { Locator } from 'playwright-core';
import { Refusal, type ApiTable } from './fake-api.js';
import { idOf, run, series, summary } from './records.js';
import type { DESK, Stage } from './stage.js';

export const ID = idOf('run', 1);
export const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-lr = 1\n+lr = 2\n';

const GONE = new Refusal(404, 'not_found', 'there is none');

/** What the server says of the run whose page is shown. */
export interface RunWorld {
  readonly run?: Partial<Run>;
  readonly metrics?: RunSummary['metrics'];
  readonly summary?: Partial<RunSummary>;
  readonly tab?: string;
  readonly api?: ApiTable;
  readonly viewport?: typeof DESK;
  readonly theme?: 'light' | 'dark';
}

export function mountRunPage(
  stage: Stage,
  { run: changes = {}, metrics = {}, summary: more = {}, tab = '', api = {}, ...rest }: RunWorld = {},
): Promise<Locator> {
  const record = run(1, changes);
  const points = Object.fromEntries(Object.keys(metrics).map((name) => [name, series([1, 0.5])]));
  return stage.mount('svc-run-page', {
    properties: { runId: ID, query: `tab=${tab}` },
    api: {
      'GET /runs/{run_id}': record,
      'GET /runs/{run_id}/summary': summary(record, metrics, more),
      'GET /runs/{run_id}/metrics': { run_id: ID, series: points },
      'GET /runs/{run_id}/checkpoints': { items: [] },
      'GET /checkpoints:recommend': GONE,
      'GET /jobs/{job_id}': GONE,
      'GET /projects/{project_id}': GONE,
      'GET /experiments/{experiment_id}': GONE,
      ...api,
    },
    ...rest,
  });
}
