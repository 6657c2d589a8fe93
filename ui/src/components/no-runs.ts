import { html, type TemplateResult } from 'lit';
import { paths } from '../paths.js';
import './svc-notice.js';

/** In place of a table of runs without runs: the way back from a filter, or how a run begins. */
export function renderNoRuns(isFiltered: boolean): TemplateResult {
  if (isFiltered)
    return html`<svc-notice icon="runs" headline="No runs match the filter"
      ><a href=${paths.runs()}>Show all runs</a></svc-notice
    >`;
  return html`<svc-notice icon="runs" headline="No runs yet" command="svc submit --follow -- python3 train.py"
    >Each training job starts a run; outside a job, svc.init() in Python starts one.</svc-notice
  >`;
}
