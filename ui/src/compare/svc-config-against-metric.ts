import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { closingMenu } from '../closing-menu.js';
import { formatValue } from '../format.js';
import { detailsStyles } from '../styles/details-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { chooseAxes, configAxes, metricAxis, type Axis } from './axes.js';
import type { ComparedMetric } from './chosen-metrics.js';
import { shortConfig } from './config-rows.js';
import type { ShownRun } from './shown-run.js';
import './svc-parallel.js';
import './svc-scatter.js';

/** What was chosen here; null: as usual. */
export interface AxesChoice {
  readonly target?: string | null;
  readonly x?: string | null;
  readonly axes?: readonly string[] | null;
}

/**
 * Config of the runs against a metric: parallel coordinates, a scatter, and a table of the same values. Fires `svc-axes` with an
 * AxesChoice.
 */
@customElement('svc-config-against-metric')
export class SvcConfigAgainstMetric extends LitElement {
  /** Those that are drawn. */
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  @property({ attribute: false }) metrics: readonly ComparedMetric[] = [];
  @property({ attribute: false }) target: string | null = null;
  @property({ attribute: false }) x: string | null = null;
  @property({ attribute: false }) axes: readonly string[] | null = null;
  /** The best value of the run, or the latest where there is no best. */
  @property({ attribute: false }) bestOf: (run: ShownRun, metric: string) => number | null = () => null;

  static override styles = [
    baseStyles,
    controlStyles,
    panelStyles,
    dataTableStyles,
    detailsStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        min-height: 2.75rem;
        padding: var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--color-line);
      }
      h2 {
        margin-right: auto;
      }
      label {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
        min-width: 0;
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .select {
        max-width: 14rem;
      }
      .grid {
        display: grid;
        grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
      }
      .part {
        min-width: 0;
        padding: var(--space-3) 0;
      }
      .part + .part {
        border-left: 1px solid var(--color-line);
      }
      .part-head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2);
        min-height: 2rem;
        padding: 0 var(--space-4);
        margin-bottom: var(--space-2);
      }
      h3 {
        margin-right: auto;
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
        color: var(--color-text-2);
      }
      details {
        border-top: 1px solid var(--color-line);
      }
      .choices {
        position: relative;
        border: 0;
      }
      .choices summary {
        padding: 0;
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      .choices ul {
        position: absolute;
        z-index: 4;
        right: 0;
        display: grid;
        width: max-content;
        max-width: 18rem;
        max-height: 16rem;
        padding: var(--space-2) var(--space-3);
        overflow: auto;
        border-radius: var(--radius-md);
        background: var(--color-overlay);
        box-shadow: var(--shadow-overlay);
      }
      .choices label {
        min-height: 1.75rem;
        color: var(--color-text);
      }
      input[type='checkbox'] {
        flex: none;
        accent-color: var(--color-accent);
      }
      .scroll {
        max-height: 24rem;
      }
      th,
      td {
        max-width: 16rem;
        padding: 0.3125rem var(--space-4);
        overflow-wrap: anywhere;
      }
      .none {
        padding: var(--space-6) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        text-align: center;
      }
      @media (max-width: 64rem) {
        .grid {
          grid-template-columns: minmax(0, 1fr);
        }
        .part + .part {
          border-top: 1px solid var(--color-line);
          border-left: 0;
        }
      }
    `,
  ];

  override render() {
    const target = this.metrics.find(({ name }) => name === this.target)?.name ?? this.metrics[0]?.name;
    return html`<div class="bar">
        <h2>Config against a metric</h2>
        ${target === undefined ? nothing : this.#renderSelect('Metric', this.#metricNames, target, 'target')}
      </div>
      ${target === undefined ? html`<p class="none">The runs have no metric yet.</p>` : this.#renderBody(target)}`;
  }

  get #metricNames(): string[] {
    return this.metrics.map(({ name }) => name);
  }

  #renderBody(target: string) {
    const all = configAxes(this.runs);
    if (all.length === 0) {
      return html`<p class="none">
        The runs shown differ in no value of their config, so there is nothing to hold against ${target}.
      </p>`;
    }
    const metric = metricAxis(target, this.runs, (run) => this.bestOf(run, target));
    const chosen = chooseAxes(all, this.axes);
    const x = all.find(({ name }) => name === this.x) ?? all[0]!;
    return html`<div class="grid">
        <div class="part">
          <div class="part-head">
            <h3>Parallel coordinates</h3>
            ${this.#renderChoices(all, chosen)}
          </div>
          <svc-parallel .runs=${this.runs} .axes=${[...chosen, metric]}></svc-parallel>
        </div>
        <div class="part">
          <div class="part-head">
            <h3>Scatter</h3>
            ${this.#renderSelect(
              'x',
              all.map(({ name }) => name),
              x.name,
              'x',
            )}
          </div>
          <svc-scatter .runs=${this.runs} .x=${x} .y=${metric}></svc-scatter>
        </div>
      </div>
      ${this.#renderTable([...new Set([...chosen, x])], metric)}`;
  }

  #renderSelect(label: string, names: readonly string[], chosen: string, key: 'target' | 'x') {
    return html`<label
      >${label}
      <select
        class="select"
        aria-label=${key === 'x' ? 'x of the scatter' : label}
        @change=${(event: Event) => this.#fire({ [key]: (event.target as HTMLSelectElement).value })}
      >
        ${names.map((name) => html`<option value=${name} ?selected=${name === chosen}>${name}</option>`)}
      </select></label
    >`;
  }

  #renderChoices(all: readonly Axis[], chosen: readonly Axis[]) {
    return html`<details class="choices" ${closingMenu()}>
      <summary>Axes<span class="count">${chosen.length} of ${all.length}</span></summary>
      <ul>
        ${all.map(
          ({ name }) =>
            html`<li>
              <label
                ><input
                  type="checkbox"
                  .checked=${chosen.some((axis) => axis.name === name)}
                  @change=${() => this.#toggleAxis(name, chosen)}
                />${name}</label
              >
            </li>`,
        )}
      </ul>
    </details>`;
  }

  #renderTable(axes: readonly Axis[], metric: Axis) {
    return html`<details>
      <summary>Table of these values<span class="count">${this.runs.length}</span></summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Config and ${metric.name}">
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              ${axes.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
              <th scope="col" class="number">${metric.name}</th>
            </tr>
          </thead>
          <tbody>
            ${this.runs.map(
              ({ label }, at) =>
                html`<tr>
                  <th scope="row">${label}</th>
                  ${axes.map(({ values }) => html`<td class="number">${shortConfig(values[at])}</td>`)}
                  <td class="number">${showValue(metric.values[at])}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
  }

  #toggleAxis(name: string, chosen: readonly Axis[]): void {
    const names = chosen.map((axis) => axis.name);
    const axes = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
    this.#fire({ axes });
  }

  #fire(detail: AxesChoice): void {
    this.dispatchEvent(new CustomEvent('svc-axes', { detail }));
  }
}

function showValue(value: unknown): string {
  return typeof value === 'number' ? formatValue(value) : '–';
}
