import type { MetricSummary, RunSummary } from '@svc/contract';
import { fromMetricValue, isDirectionKnown } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { compareNames, type Units } from '../chart/groups.js';
import { hasWords } from '../data/search.js';
import { formatCount, formatValue } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { icon, type IconName } from './icons.js';
import { ROWS_AT_ONCE, moreRowsStyles, renderMore } from './more-rows.js';
import './svc-metric-direction.js';
import { renderUnit, unitStyles } from '../chart/unit.js';

const TREND_ICONS: Readonly<Record<string, IconName>> = {
  increasing: 'rising',
  decreasing: 'falling',
  stable: 'steady',
};

/** The summary of a run: per metric its latest and best value, and where it is going. */
@customElement('svc-metrics-table')
export class SvcMetricsTable extends LitElement {
  @property({ attribute: false }) summary: RunSummary | null = null;
  /** Of metrics that have one. */
  @property({ attribute: false }) units: Units = new Map();
  /** Of the run. */
  @property({ attribute: false }) projectId: string | null = null;
  /** Words of the names of those that are shown. */
  @state() private text = '';
  @state() private rows = ROWS_AT_ONCE;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    dataTableStyles,
    unitStyles,
    moreRowsStyles,
    css`
      .scroll {
        max-height: 22rem;
        border-radius: var(--radius-lg);
      }
      th,
      td {
        padding: 0.375rem var(--space-4);
      }
      tbody th {
        min-width: 9rem;
        overflow-wrap: anywhere;
      }
      .primary {
        display: inline-block;
        margin-left: var(--space-2);
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-accent-soft);
        color: var(--color-accent);
        font-size: var(--text-xs);
      }
      .strong {
        font-weight: var(--weight-medium);
      }
      .odd {
        color: var(--color-danger);
        font-weight: var(--weight-medium);
      }
      .find {
        padding: var(--space-2) var(--space-4);
      }
      .find .input {
        width: min(16rem, 100%);
      }
      .none {
        padding: var(--space-3) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .hint {
        padding: var(--space-2) var(--space-4) var(--space-3);
        color: var(--color-text-2);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      .trend {
        white-space: nowrap;
        color: var(--color-text-2);
      }
      .trend.good {
        color: var(--color-success);
      }
      .trend.bad {
        color: var(--color-warning);
      }
      @media (max-width: 28rem) {
        .word {
          position: absolute;
          width: 1px;
          height: 1px;
          overflow: hidden;
          clip-path: inset(50%);
        }
      }
      @media (max-width: 40rem) {
        th,
        td {
          padding-inline: var(--space-2);
        }
        tr > :first-child {
          padding-left: var(--space-4);
        }
        .wide,
        .number .quiet {
          display: none;
        }
        tbody th {
          min-width: 6rem;
        }
      }
    `,
  ];

  override render() {
    if (!this.summary) return nothing;
    const all = Object.entries(this.summary.metrics);
    const metrics = all.filter(([name]) => hasWords(name, this.text)).sort(byImportance);
    return html`${all.length > ROWS_AT_ONCE ? this.#renderFind() : nothing}
      <div class="scroll" tabindex="0" role="region" aria-label="Metrics">
        <table>
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <th scope="col" class="number">Latest</th>
              <th scope="col" class="number">Best</th>
              <th scope="col">Trend</th>
              <th scope="col" class="wide">Goal</th>
              <th scope="col" class="number wide">Points</th>
            </tr>
          </thead>
          <tbody>
            ${metrics.slice(0, this.rows).map(([name, metric]) => this.#renderMetric(name, metric))}
          </tbody>
        </table>
      </div>
      ${metrics.length === 0 ? html`<p class="none">No metric has these words in its name.</p>` : nothing}
      ${renderMore(this.rows, metrics.length, 'metrics', () => (this.rows += ROWS_AT_ONCE))}
      ${this.#renderHint()}`;
  }

  #renderFind() {
    return html`<div class="find">
      <input
        class="input"
        type="search"
        aria-label="Find metrics by name"
        placeholder="Find a metric"
        spellcheck="false"
        @input=${({ target }: InputEvent) => {
          this.text = (target as HTMLInputElement).value;
          this.rows = ROWS_AT_ONCE;
        }}
      />
    </div>`;
  }

  #renderHint() {
    const unknown = Object.entries(this.summary?.metrics ?? {}).filter(
      ([, metric]) => !isDirectionKnown(metric),
    );
    const [name] = unknown[0] ?? [];
    if (name === undefined) return nothing;
    const who = unknown.length === 1 ? name : `${unknown.length} metrics`;
    return html`<p class="hint">
      The direction of <bdi>${who}</bdi> is unknown, so no best value is shown. Set whether lower or higher is
      better: here, by <code>svc metrics set NAME --direction minimize</code>, or in the training by
      <code>run.define_metric(NAME, direction="minimize")</code>.
    </p>`;
  }

  #renderMetric(name: string, metric: MetricSummary) {
    const { latest, trend, direction, is_primary: isPrimary, count } = metric;
    const value = fromMetricValue(latest.value);
    const isKnown = isDirectionKnown(metric);
    const unit = renderUnit(this.units.get(name));
    return html`<tr>
      <th scope="row">
        <bdi>${breakable(name)}</bdi>${isPrimary ? html`<span class="primary">primary</span>` : nothing}
      </th>
      <td
        class="number strong ${Number.isFinite(value) ? '' : 'odd'}"
        title="Step ${formatCount(latest.step)}"
      >
        ${formatValue(value)}${unit}
      </td>
      <td class="number">${isKnown ? renderBest(metric, unit) : this.#renderChoice(name)}</td>
      <td>${renderTrend(trend, isKnown ? direction : null)}</td>
      <td class="wide quiet">${isKnown ? direction : '–'}</td>
      <td class="number wide quiet">${formatCount(count)}</td>
    </tr>`;
  }

  #renderChoice(name: string) {
    return html`<svc-metric-direction .name=${name} .projectId=${this.projectId}></svc-metric-direction>`;
  }
}

/** A name that is too long for its line breaks between its words. */
function breakable(name: string) {
  const words = name.match(/[^/_.-]+[/_.-]*|[/_.-]+/g) ?? [];
  return words.map((word, at) => (at === 0 ? word : html`<wbr />${word}`));
}

function renderBest({ best }: MetricSummary, unit: unknown) {
  if (best === null) return '–';
  return html`${formatValue(fromMetricValue(best.value))}${unit}
    <span class="quiet">@${formatCount(best.step)}</span>`;
}

/** Without a direction nothing is good or bad. */
function renderTrend(trend: MetricSummary['trend'], direction: MetricSummary['direction'] | null) {
  const name = TREND_ICONS[trend];
  if (!name) return html`<span class="trend quiet" title="Fewer than four points">–</span>`;
  const isMoving = trend !== 'stable' && direction !== null;
  const isGood = (trend === 'increasing') === (direction === 'maximize');
  const tone = isMoving ? (isGood ? 'good' : 'bad') : '';
  const word = isMoving ? (isGood ? ', improving' : ', getting worse') : '';
  return html`<span class="trend ${tone}" title="${trend}${word}"
    >${icon(name, 14)} <span class="word">${trend}</span></span
  >`;
}

function byImportance([a, left]: [string, MetricSummary], [b, right]: [string, MetricSummary]): number {
  return Number(right.is_primary) - Number(left.is_primary) || compareNames(a, b);
}
