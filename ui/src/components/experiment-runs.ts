import type { Run, RunComparison } from '@svc/contract';
import { html } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import './svc-experiment-run.js';
import type { Column } from './svc-list.js';

/** Of a list of runs that one metric ranks; null: nothing ranks them. */
export function experimentRunColumns(ranking: RunComparison | null): Column[] {
  return [
    { title: 'Status' },
    { title: 'Run' },
    { title: ranking ? `Best ${ranking.metric}` : 'Best', isNumber: true },
    { title: 'Progress' },
    { title: 'Created', isNumber: true },
    { title: 'Duration', isNumber: true },
  ];
}

export function renderExperimentRuns(runs: readonly Run[], ranking: RunComparison | null) {
  return html`${repeat(
    runs,
    ({ id }) => id,
    (run) => html`<svc-experiment-run .run=${run} .ranking=${ranking}></svc-experiment-run>`,
  )}`;
}
