import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatCount, plural } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { shortConfig, showConfig, toConfigRows, type ConfigRow } from './config-rows.js';
import { renderRunName } from '../run-names.js';
import type { ShownRun } from './shown-run.js';

/** Of all names; more are behind a button. */
const FIRST_NAMES = 100;
const SHOWN_CHARS = 200;

/**
 * The config of the runs: the names whose values differ, or all. What there is more of, runs or names, are the rows, so that the table is
 * long rather than wide. Fires `svc-config` with whether all are wanted.
 */
@customElement('svc-config-differences')
export class SvcConfigDifferences extends LitElement {
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  @property({ attribute: false }) baseline: string | null = null;
  @property({ type: Boolean }) all = false;
  /** Whether more than the first names are shown. */
  @property({ type: Boolean }) private whole = false;

  static override styles = [
    baseStyles,
    controlStyles,
    dataTableStyles,
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
      .count {
        margin-right: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .scroll {
        max-height: 27rem;
        border-radius: 0 0 var(--radius-lg) var(--radius-lg);
      }
      th,
      td {
        padding: 0.375rem var(--space-3);
        text-align: left;
        vertical-align: top;
      }
      th:first-child {
        position: sticky;
        left: 0;
        z-index: 1;
        min-width: 8rem;
        max-width: 16rem;
        padding-left: var(--space-4);
        background: var(--color-surface);
        border-right: 1px solid var(--color-line);
        overflow-wrap: anywhere;
      }
      thead th:first-child {
        z-index: 3;
      }
      thead th {
        z-index: 2;
        min-width: 5rem;
        max-width: 14rem;
        overflow-wrap: anywhere;
      }
      .who {
        display: flex;
        align-items: center;
        gap: var(--space-2);
      }
      /* Whole: names of a sweep differ at their end. */
      .who .name {
        overflow-wrap: anywhere;
        white-space: normal;
      }
      .swatch {
        flex: none;
        width: 0.875rem;
        height: 0.25rem;
        border-radius: var(--radius-full);
        background: var(--swatch);
      }
      td {
        max-width: 20rem;
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      td.same {
        color: var(--color-text-3);
      }
      td.other {
        background: var(--color-accent-soft);
        font-weight: var(--weight-medium);
      }
      .none {
        padding: var(--space-6) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        text-align: center;
      }
      .more {
        padding: var(--space-3);
        text-align: center;
      }
      @media (max-width: 40rem) {
        th:first-child {
          min-width: 7rem;
          max-width: 9rem;
        }
        thead th:not(:first-child) {
          min-width: 8rem;
        }
        /* The name on its own line. */
        .who {
          flex-direction: column;
          align-items: flex-start;
          gap: var(--space-1);
        }
      }
    `,
  ];

  override render() {
    const rows = toConfigRows(this.runs.map(({ run }) => run.config));
    const different = rows.filter(({ isDifferent }) => isDifferent);
    return html`<div class="bar">
        <h2>Config</h2>
        <span class="count">${formatCount(different.length)} of ${plural(rows.length, 'value')} differ</span>
        <div class="segmented" role="group" aria-label="Values of config">
          ${this.#renderSwitch('Differences', false)} ${this.#renderSwitch('All', true)}
        </div>
      </div>
      ${this.#renderTable(this.all ? rows : different, rows.length)}`;
  }

  #renderSwitch(label: string, isAll: boolean) {
    return html`<button
      aria-pressed=${this.all === isAll ? 'true' : 'false'}
      @click=${() => this.dispatchEvent(new CustomEvent('svc-config', { detail: isAll }))}
    >
      ${label}
    </button>`;
  }

  #renderTable(rows: readonly ConfigRow[], total: number) {
    if (total === 0)
      return html`<p class="none">
        None of these runs has a config. <code>svc.init(config={"lr": 0.001})</code> records one.
      </p>`;
    if (rows.length === 0) return html`<p class="none">The runs have the same config.</p>`;
    const shown = this.whole ? rows : rows.slice(0, FIRST_NAMES);
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Config of the runs">
      <table>
        ${this.runs.length > shown.length ? this.#renderByRun(shown) : this.#renderByName(shown)}
      </table>
      ${
        shown.length < rows.length
          ? html`<p class="more">
              <button class="button" @click=${() => (this.whole = true)}>
                Show all ${formatCount(rows.length)} values
              </button>
            </p>`
          : nothing
      }
    </div>`;
  }

  #renderByName(rows: readonly ConfigRow[]) {
    return html`<thead>
        <tr>
          <th scope="col">Name</th>
          ${this.runs.map((run) => html`<th scope="col">${renderRun(run)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <th scope="row">${renderName(row.name)}</th>
              ${this.runs.map((_, at) => this.#renderValue(row, at))}
            </tr>`,
        )}
      </tbody>`;
  }

  #renderByRun(rows: readonly ConfigRow[]) {
    return html`<thead>
        <tr>
          <th scope="col">Run</th>
          ${rows.map(({ name }) => html`<th scope="col">${renderName(name)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${this.runs.map(
          (run, at) =>
            html`<tr>
              <th scope="row">${renderRun(run)}</th>
              ${rows.map((row) => this.#renderValue(row, at))}
            </tr>`,
        )}
      </tbody>`;
  }

  /** Of the run at that place. */
  #renderValue({ values }: ConfigRow, at: number) {
    const base = this.runs.findIndex(({ id }) => id === this.baseline);
    const text = showConfig(values[at]);
    const tone = base < 0 || at === base ? '' : text === showConfig(values[base]) ? 'same' : 'other';
    const short = shortConfig(values[at]);
    const shown = short.length > SHOWN_CHARS ? `${short.slice(0, SHOWN_CHARS)}…` : short;
    return html`<td class=${tone} title=${text === shown ? nothing : text.slice(0, 4000)}>${shown}</td>`;
  }
}

/** A nested name is broken at its dots, if at all. */
function renderName(name: string) {
  return name.split('.').map((part, at) => (at === 0 ? part : html`.<wbr />${part}`));
}

function renderRun(run: ShownRun) {
  return html`<div class="who">
    <span class="swatch" .style=${`--swatch: ${run.color}`}></span
    ><span class="name">${renderRunName(run)}</span>
  </div>`;
}
