import type { MetricSummary, RunComparison, RunEntry } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon } from '../components/icons.js';
import '../components/svc-status.js';
import { formatCount, formatValue } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import type { ComparedMetric } from './chosen-metrics.js';
import { commonStart, renderRunName } from '../run-names.js';
import type { ShownRun } from './shown-run.js';

/** By metric: how the server ranks the runs. A metric without an entry has no ranking. */
export type Rankings = ReadonlyMap<string, RunComparison>;

/** What a run has of a metric. */
interface Standing {
  readonly value: number;
  readonly step: number | null;
  readonly isEvaluated: boolean;
  /** null: it is not the best one. */
  readonly rank: 'best' | 'tied' | null;
}

/**
 * The runs, their colours, and the best value of each metric. Fires `svc-hide`, `svc-baseline` and `svc-remove` with the run's id,
 * and `svc-sort` with the name of a metric or null.
 */
@customElement('svc-compare-table')
export class SvcCompareTable extends LitElement {
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  @property({ attribute: false }) metrics: readonly ComparedMetric[] = [];
  @property({ attribute: false }) rankings: Rankings = new Map();
  @property({ attribute: false }) baseline: string | null = null;
  @property({ attribute: false }) sort: string | null = null;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    dataTableStyles,
    css`
      :host {
        --control-height: 1.75rem;
      }
      .scroll {
        max-height: 27rem;
        border-radius: var(--radius-lg);
        /* A shadow at the right edge, which the end of the table covers. */
        background:
          linear-gradient(to left, var(--color-surface) 50%, transparent) right / 2rem 100% no-repeat local,
          linear-gradient(to left, var(--color-edge), transparent) right / 1rem 100% no-repeat scroll;
      }
      th,
      td {
        height: 2.5rem;
        padding: 0 var(--space-3);
      }
      thead th {
        z-index: 2;
      }
      .run {
        position: sticky;
        left: 0;
        z-index: 1;
        min-width: 19rem;
        max-width: 24rem;
        padding: 0 var(--space-3) 0 var(--space-2);
        background: var(--color-surface);
        border-right: 1px solid var(--color-line);
      }
      thead .run {
        z-index: 3;
        padding-left: var(--space-4);
      }
      tbody tr:hover .run {
        background: var(--color-hover);
      }
      .who {
        display: flex;
        align-items: center;
        gap: var(--space-1);
        min-width: 0;
      }
      .who a {
        flex: 1;
        color: var(--color-text);
        font-weight: var(--weight-medium);
      }
      .start {
        display: inline-block;
        max-width: 15rem;
        vertical-align: bottom;
        font-weight: var(--weight-normal);
      }
      .swatch {
        flex: none;
        width: 0.875rem;
        height: 0.25rem;
        margin-right: var(--space-1);
        border-radius: var(--radius-full);
        background: var(--swatch);
      }
      tr.hidden .swatch {
        opacity: 0.4;
      }
      tr.hidden a {
        color: var(--color-text-3);
        text-decoration: line-through;
      }
      .name {
        display: inline-block;
        max-width: 14rem;
        vertical-align: middle;
      }
      .sort {
        display: inline-flex;
        align-items: center;
        gap: var(--space-1);
        height: 1.75rem;
        margin-right: calc(-1 * var(--space-1));
        padding: 0 var(--space-1);
        border: 0;
        border-radius: var(--radius-sm);
        background: none;
        color: inherit;
        font: inherit;
        cursor: pointer;
      }
      .sort:hover {
        background: var(--color-hover);
      }
      th[aria-sort] .sort {
        color: var(--color-text);
      }
      .value {
        display: inline-flex;
        align-items: center;
        justify-content: flex-end;
        gap: var(--space-2);
        font-variant-numeric: tabular-nums;
      }
      .best {
        font-weight: var(--weight-strong);
      }
      .pill {
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-success-soft);
        color: var(--color-success);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
      }
      .pill.base {
        background: var(--color-accent-soft);
        color: var(--color-accent);
      }
      .odd {
        color: var(--color-danger);
      }
      .delta {
        display: block;
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-variant-numeric: tabular-nums;
      }
      .delta.good {
        color: var(--color-success);
      }
      .delta.bad {
        color: var(--color-warning);
      }
      .act,
      .shown {
        flex: none;
      }
      .who .button[aria-pressed] {
        border-color: transparent;
      }
      .shown[aria-pressed] {
        background: none;
        color: var(--color-text-2);
      }
      @media (max-width: 40rem) {
        .run {
          min-width: 11rem;
          max-width: 11rem;
        }
        thead .run {
          padding-left: var(--space-2);
        }
        .start {
          max-width: 7rem;
        }
        .who .pill {
          display: none;
        }
        .who {
          flex-wrap: wrap;
          padding-block: var(--space-1);
        }
        /* On a line of its own, whole: names of a sweep differ at their end. */
        .who a {
          order: -1;
          flex-basis: 100%;
          overflow-wrap: anywhere;
          white-space: normal;
        }
      }
    `,
  ];

  override render() {
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Runs and their best values">
      <table>
        <thead>
          <tr>
            <th scope="col" class="run">Run ${this.#renderStart()}</th>
            ${this.metrics.map((metric) => this.#renderHead(metric))}
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            this.#sorted,
            ({ id }) => id,
            (run) => this.#renderRun(run),
          )}
        </tbody>
      </table>
    </div>`;
  }

  /** What the names in the rows leave out. */
  #renderStart() {
    const start = commonStart(this.runs.map(({ run }) => run.name));
    return start === ''
      ? nothing
      : html`<span class="start truncate" title=${start}><bdi>${start}</bdi>…</span>`;
  }

  #renderHead({ name, direction }: ComparedMetric) {
    const isSorted = this.sort === name;
    const goal = direction === null ? 'latest value; no direction is known' : `best value; ${direction}`;
    return html`<th
      scope="col"
      class="number"
      aria-sort=${isSorted ? (direction === 'maximize' ? 'descending' : 'ascending') : nothing}
    >
      <button
        class="sort"
        title="${name} (${goal}). ${isSorted ? 'Back to the order of the address' : 'Sort by it'}"
        @click=${() => this.#fire('svc-sort', isSorted ? null : name)}
      >
        ${isSorted ? icon(direction === 'maximize' ? 'down' : 'up', 14) : nothing}
        <span class="name truncate">${name}</span>
        <span class="goal"
          >${direction === null ? '(latest)' : direction === 'minimize' ? '(lowest)' : '(highest)'}</span
        >
      </button>
    </th>`;
  }

  #renderRun(run: ShownRun) {
    const isBaseline = run.id === this.baseline;
    return html`<tr class=${run.isHidden ? 'hidden' : ''}>
      <th scope="row" class="run">
        <div class="who">
          <button
            class="button plain icon shown"
            aria-pressed=${run.isHidden ? 'false' : 'true'}
            aria-label="Show ${run.label} in the charts"
            title=${run.isHidden ? 'Show in the charts' : 'Hide in the charts'}
            @click=${() => this.#fire('svc-hide', run.id)}
          >
            ${icon(run.isHidden ? 'cancelled' : 'eye', 14)}
          </button>
          <span class="swatch" .style=${`--swatch: ${run.color}`}></span>
          <a class="truncate" href=${paths.run(run.id)}>${renderRunName(run)}</a>
          ${isBaseline ? html`<span class="pill base">baseline</span>` : nothing} ${this.#renderActions(run)}
        </div>
      </th>
      ${this.metrics.map((metric) => this.#renderValue(run, metric))}
      <td><svc-status value=${run.run.stale_since === null ? run.run.status : 'stale'}></svc-status></td>
    </tr>`;
  }

  #renderActions({ id, label }: ShownRun) {
    const isBaseline = id === this.baseline;
    return html`<button
        class="button plain icon act"
        aria-pressed=${isBaseline ? 'true' : 'false'}
        aria-label="${label} as the baseline"
        title=${isBaseline ? 'No baseline' : 'As the baseline: the others are held against it'}
        @click=${() => this.#fire('svc-baseline', isBaseline ? null : id)}
      >
        ${icon('flag', 14)}
      </button>
      <button
        class="button plain icon act"
        aria-label="Remove ${label} from the comparison"
        title="Remove from the comparison"
        @click=${() => this.#fire('svc-remove', id)}
      >
        ${icon('cross', 14)}
      </button>`;
  }

  #renderValue(run: ShownRun, metric: ComparedMetric) {
    const standing = this.#standingOf(run, metric);
    if (standing === null) return html`<td class="number quiet">–</td>`;
    const { value, step, isEvaluated, rank } = standing;
    const where = step === null ? '' : `at step ${formatCount(step)}`;
    return html`<td class="number">
      <span
        class="value ${rank === null ? '' : 'best'} ${Number.isFinite(value) ? '' : 'odd'}"
        title="${where}${isEvaluated ? ' by an evaluation' : ''}"
        >${rank === null ? nothing : html`<span class="pill">${rank}</span>`}${formatValue(value)}</span
      >
      ${this.#renderDelta(run, metric, value)}
    </td>`;
  }

  #renderDelta(run: ShownRun, metric: ComparedMetric, value: number) {
    const baseline = this.runs.find(({ id }) => id === this.baseline);
    if (!baseline || baseline.id === run.id) return nothing;
    const base = this.#standingOf(baseline, metric)?.value;
    const delta = base === undefined ? NaN : value - base;
    if (!Number.isFinite(delta)) return nothing;
    if (delta === 0) return html`<span class="delta">equal</span>`;
    const isGood = metric.direction !== null && delta < 0 === (metric.direction === 'minimize');
    const tone = metric.direction === null ? '' : isGood ? 'good' : 'bad';
    const word = tone === '' ? '' : isGood ? ' better' : ' worse';
    return html`<span class="delta ${tone}"
      >${delta > 0 ? '+' : ''}${formatValue(Number(delta.toPrecision(3)))}${word}</span
    >`;
  }

  get #sorted(): readonly ShownRun[] {
    const metric = this.metrics.find(({ name }) => name === this.sort);
    if (!metric) return this.runs;
    const sign = metric.direction === 'maximize' ? -1 : 1;
    const keyOf = (run: ShownRun): number => {
      const value = this.#standingOf(run, metric)?.value ?? NaN;
      return Number.isNaN(value) ? Infinity : value * sign;
    };
    return [...this.runs].sort((a, b) => compareNumbers(keyOf(a), keyOf(b)));
  }

  #standingOf(run: ShownRun, { name }: ComparedMetric): Standing | null {
    const ranking = this.rankings.get(name);
    const entry = ranking?.entries.find(({ run_id }) => run_id === run.id);
    return (ranking && entry && ofRanking(ranking, entry)) ?? ofSummary(run.summary.metrics[name]);
  }

  #fire(name: string, detail: string | null): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function ofRanking({ tied_ids: tied }: RunComparison, entry: RunEntry): Standing | null {
  if (entry.best === null) return null;
  return {
    value: fromMetricValue(entry.best),
    step: entry.step,
    isEvaluated: entry.best_source === 'evaluation',
    rank: tied.length > 1 && tied.includes(entry.run_id) ? 'tied' : entry.is_best ? 'best' : null,
  };
}

function ofSummary(metric: MetricSummary | undefined): Standing | null {
  if (!metric) return null;
  const { value, step } = metric.best ?? metric.latest;
  return { value: fromMetricValue(value), step, isEvaluated: false, rank: null };
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
