import type { Run } from '@svc/contract';
import { partDone, percentDone } from '@svc/contract/protocol';
import { html, nothing } from 'lit';
import { flatRecord, toText } from '../data/flat-record.js';
import type { MetricValues, StepValue } from '../data/metric-values.js';
import { formatAge, formatCount, formatDateTime, formatDuration, formatValue, shortId } from '../format.js';
import { paths } from '../paths.js';
import { NO_GROUP, type Place } from '../table/arrange.js';
import type { Column, Field } from '../table/columns.js';

/** What the table of runs knows beside the runs. */
export interface RunTableContext {
  projectName(run: Run): string | null;
  experimentName(run: Run): string | null;
  /** null: the run has no such metric, or nobody knows yet. */
  values(run: Run, metric: string): MetricValues | null;
  /** Of the finite values the best; null also where nobody knows which is. */
  best(run: Run, metric: string): StepValue | null;
  now(): number;
  /** The address of the runs that have this tag too. */
  tagPath(tag: string): string;
}

/** The groups of a run, by the column that groups. */
export function placesOf(run: Run, column: Column, context: RunTableContext): Place[] {
  if (column.kind === 'field' && column.name === 'tags') {
    if (run.tags.length > 0) return run.tags.map((tag) => ({ key: tag, label: tag }));
    return [{ key: NO_GROUP, label: 'No tag' }];
  }
  if (column.kind === 'field' && column.name === 'project')
    return [toPlace(run.project_id, context.projectName(run), 'No project')];
  if (column.kind === 'field' && column.name === 'experiment')
    return [toPlace(run.experiment_id, context.experimentName(run), 'No experiment')];
  const value = column.kind === 'config' ? flatRecord(run.config).get(column.name) : run.status;
  return [toPlace((value ?? null) === null ? null : toText(value), null, `No ${column.name}`)];
}

function toPlace(key: string | null, label: string | null, none: string): Place {
  return key === null ? { key: NO_GROUP, label: none } : { key, label: label ?? key };
}

export function renderCell(run: Run, column: Column, context: RunTableContext): unknown {
  if (column.kind === 'field') return renderField(run, column.name, context);
  if (column.kind === 'config') return renderText(flatRecord(run.config).get(column.name));
  if (column.kind === 'best') return renderPoint(context.best(run, column.name), true);
  return renderPoint(context.values(run, column.name)?.last ?? null, false);
}

function renderField(run: Run, name: Field, context: RunTableContext): unknown {
  switch (name) {
    case 'status':
      return html`<svc-status value=${run.stale_since === null ? run.status : 'stale'}></svc-status>`;
    case 'project':
      return renderText(context.projectName(run) ?? undefined);
    case 'experiment':
      return renderText(context.experimentName(run) ?? undefined);
    case 'progress':
      return renderProgress(run);
    case 'tags':
      return renderTags(run.tags, context);
    case 'created':
      return html`<span class="quiet" @mouseenter=${(event: MouseEvent) => setTitle(event, run.created_at)}
        >${formatAge(context.now() - run.created_at)}</span
      >`;
    case 'duration':
      return run.finished_at === null
        ? html`<svc-time elapsed .from=${run.started_at}></svc-time>`
        : formatDuration(run.finished_at - run.started_at);
    case 'step':
      return run.step === null ? renderText(undefined) : formatCount(run.step);
    case 'epoch':
      return run.epoch === null ? renderText(undefined) : formatValue(run.epoch);
    case 'source':
      return run.source;
    case 'job':
      return run.job_id === null
        ? renderText(undefined)
        : html`<a tabindex="-1" class="text" href=${paths.job(run.job_id)} title=${run.job_id}
            >${shortId(run.job_id)}${(run.attempt ?? 1) > 1 ? `, attempt ${run.attempt}` : ''}</a
          >`;
    case 'notes':
      return renderText(run.notes || undefined);
    case 'id':
      return html`<code class="text" title=${run.id}>${shortId(run.id)}</code>`;
  }
}

/** In few elements: a table draws dozens with each step of a scroll. */
function renderProgress(run: Run): unknown {
  const { step, max_steps: max, status } = run;
  if (step === null) return renderText(undefined);
  if (!max || max < 0) return html`step ${formatCount(step)}`;
  return html`<span class="progress ${status}" .style=${`--part: ${partDone(run)! * 100}%`}
    ><span class="text">${formatCount(step)} / ${formatCount(max)}</span
    ><span>${percentDone(run)} %</span></span
  >`;
}

/** The full time, only when it is pointed at: writing it is slow. */
function setTitle(event: MouseEvent, ts: number): void {
  (event.target as HTMLElement).title = formatDateTime(ts);
}

/** Commas separate the tags of a filter: a tag with one, or with space around it, cannot be asked for. */
export function isFilterableTag(tag: string): boolean {
  return !tag.includes(',') && tag.trim() === tag;
}

function renderTags(tags: readonly string[], context: RunTableContext): unknown {
  if (tags.length === 0) return renderText(undefined);
  return html`<span class="tags" title=${tags.join(', ')}
    >${tags.map((tag) =>
      isFilterableTag(tag)
        ? html`<a class="tag" tabindex="-1" href=${context.tagPath(tag)} aria-label="Tag ${tag}">${tag}</a>`
        : html`<span class="tag">${tag}</span>`,
    )}</span
  >`;
}

function renderText(value: unknown): unknown {
  if (value === undefined) return html`<span class="quiet">–</span>`;
  const text = typeof value === 'number' ? formatValue(value) : toText(value);
  return html`<span class="text" title=${toText(value)}>${text}</span>`;
}

function renderPoint(point: StepValue | null, hasStep: boolean): unknown {
  if (point === null) return renderText(undefined);
  const isOdd = !Number.isFinite(point.value);
  return html`<span
      class=${isOdd ? 'odd' : ''}
      title="${String(point.value)} at step ${formatCount(point.step)}"
      >${formatValue(point.value)}</span
    >${hasStep ? html`<span class="at">@${formatCount(point.step)}</span>` : nothing}`;
}
