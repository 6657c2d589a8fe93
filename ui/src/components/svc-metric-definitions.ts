import { consume } from '@lit/context';
import { isDirectionKnown } from '@svc/contract/protocol';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { Loader } from '../controllers/loader.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import {
  defineMetric,
  listMetricDefinitions,
  setPrimaryMetric,
  type Direction,
  type MetricDefinition,
  type MetricLevelIds,
} from '../data/metric-definitions.js';
import { hasWords } from '../data/search.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { ROWS_AT_ONCE, moreRowsStyles, renderMore } from './more-rows.js';
import './svc-notice.js';
import './svc-skeleton.js';
import './svc-stale.js';
import { toast } from './svc-toasts.js';

const GOALS: Readonly<Record<Direction, string>> = {
  minimize: 'Lower is better',
  maximize: 'Higher is better',
};
const LEVELS: Readonly<Record<MetricDefinition['level'], string>> = {
  global: 'Everywhere',
  project: 'The project',
  experiment: 'The experiment',
  run: 'The run',
};

/** What metrics mean at one level: goal, unit, which is primary. Each change is saved at once, at that level. */
@customElement('svc-metric-definitions')
export class SvcMetricDefinitions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) level: MetricLevelIds = { project_id: null, experiment_id: null };
  /** Words of the names that are shown. */
  @property() text = '';
  @state() private rows = ROWS_AT_ONCE;
  readonly #definitions = new Loader(this, {
    load: (signal) => listMetricDefinitions(this.api, this.level, signal),
  });
  #asked = '';

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    dataTableStyles,
    moreRowsStyles,
    css`
      :host {
        container-type: inline-size;
      }
      th,
      td {
        height: 2.75rem;
        padding: var(--space-1) var(--space-2);
      }
      th:first-child {
        padding-left: var(--space-4);
      }
      td:last-child {
        padding-right: var(--space-4);
      }
      tbody th {
        min-width: 10rem;
        max-width: 24rem;
        overflow-wrap: anywhere;
      }
      .scroll {
        border-radius: inherit;
      }
      .select,
      .input {
        --control-height: 1.875rem;
        height: var(--control-height);
      }
      .select {
        width: 16rem;
      }
      .input {
        width: 6.5rem;
      }
      .center {
        text-align: center;
      }
      input[type='radio'] {
        width: 1.125rem;
        height: 1.125rem;
        margin: 0.1875rem;
        vertical-align: middle;
        accent-color: var(--color-accent);
      }
      .from {
        color: var(--color-text-2);
        white-space: nowrap;
      }
      form {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2);
        padding: var(--space-3) var(--space-4);
        border-top: 1px solid var(--color-line);
      }
      form .input {
        flex: 0 1 18rem;
        width: auto;
      }
      /* A row is a card there; the roles in the markup keep it a table for screen readers. */
      @container (max-width: 40rem) {
        table,
        tbody {
          display: block;
        }
        thead {
          position: absolute;
          clip-path: inset(50%);
        }
        tbody tr {
          display: grid;
          grid-template:
            'name from' auto
            'goal goal' auto
            'unit primary' auto / minmax(0, 1fr) auto;
          gap: var(--space-2);
          align-items: center;
          padding: var(--space-3) var(--space-4);
        }
        tbody tr + tr {
          border-top: 1px solid var(--color-line);
        }
        tbody tr > :nth-child(n) {
          height: auto;
          min-width: 0;
          padding: 0;
          border: 0;
        }
        .from {
          grid-area: from;
          text-align: end;
          font-size: var(--text-xs);
        }
        .goal {
          grid-area: goal;
        }
        .goal .select {
          width: 100%;
        }
        .unit {
          grid-area: unit;
        }
        td.center {
          grid-area: primary;
        }
        [data-title]::before {
          content: attr(data-title);
          margin-right: var(--space-2);
          color: var(--color-text-2);
          font-size: var(--text-xs);
        }
      }
    `,
  ];

  override willUpdate(changed: PropertyValues): void {
    const question = JSON.stringify(this.level);
    if (changed.has('text') || question !== this.#asked) this.rows = ROWS_AT_ONCE;
    if (this.hasUpdated && question !== this.#asked) this.#definitions.reload({ clear: true });
    this.#asked = question;
  }

  override render() {
    const { value, error } = this.#definitions;
    return html`<svc-stale
        .error=${value ? error : null}
        @svc-retry=${() => this.#definitions.reload()}
      ></svc-stale>
      ${this.#renderBody()} ${value && this.who?.can_write ? this.#renderNew() : nothing}`;
  }

  #renderBody() {
    const { value, error } = this.#definitions;
    if (!value && error)
      return html`<svc-notice
        tone="danger"
        headline="The metrics could not be loaded"
        action="Try again"
        @svc-action=${() => this.#definitions.reload()}
        >${error.message}</svc-notice
      >`;
    if (!value) return html`<svc-skeleton rows="5"></svc-skeleton>`;
    if (value.length === 0)
      return html`<svc-notice icon="runs" headline="No metric is known here yet"
        >A metric appears here once a run has logged it. It can be defined before, too.</svc-notice
      >`;
    const shown = value
      .filter(({ name }) => hasWords(name, this.text))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    if (shown.length === 0)
      return html`<svc-notice icon="search" headline="No metric has these words in its name"></svc-notice>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Metrics">
        <table role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">Metric</th>
              <th scope="col" role="columnheader">Goal</th>
              <th scope="col" role="columnheader">Unit</th>
              <th scope="col" role="columnheader" class="center">Primary</th>
              <th scope="col" role="columnheader">Set for</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${repeat(
              shown.slice(0, this.rows),
              ({ name }) => name,
              (definition) => this.#renderRow(definition),
            )}
          </tbody>
        </table>
      </div>
      ${renderMore(this.rows, shown.length, 'metrics', () => (this.rows += ROWS_AT_ONCE))}`;
  }

  #renderRow(definition: MetricDefinition) {
    const { name, level, auto, is_primary: isPrimary } = definition;
    return html`<tr role="row">
      <th scope="row" role="rowheader"><bdi>${name}</bdi></th>
      <td class="goal" role="cell">${this.#renderGoal(definition)}</td>
      <td class="unit" role="cell" data-title="Unit">${this.#renderUnit(definition)}</td>
      <td class="center" role="cell" data-title="Primary">
        ${
          this.who?.can_write
            ? html`<input
                type="radio"
                name="primary"
                aria-label="${name} is the primary metric"
                .checked=${live(isPrimary)}
                @change=${() => void this.#save(() => setPrimaryMetric(this.api, name, this.level), `${name} is the primary metric.`)}
              />`
            : isPrimary
              ? 'Primary'
              : ''
        }
      </td>
      <td class="from" role="cell">${auto ? 'Automatic' : LEVELS[level]}</td>
    </tr>`;
  }

  /** A goal that only the name suggests is marked as such; where it suggests none, there is none. */
  #renderGoal(definition: MetricDefinition) {
    const { name, direction, guessed, guessed_from: from } = definition;
    const isKnown = isDirectionKnown(definition);
    const suggested = guessed && isKnown ? ` (by “${from}”)` : '';
    if (!this.who?.can_write) return isKnown ? `${GOALS[direction]}${suggested}` : 'None';
    return html`<select
      class="select"
      aria-label="Goal of ${name}"
      @change=${(event: Event) => {
        const { value } = event.target as HTMLSelectElement;
        const chosen = value as Direction;
        void this.#save(
          () => defineMetric(this.api, name, { direction: chosen }, this.level),
          `${name}: ${GOALS[chosen].toLowerCase()}.`,
        );
      }}
    >
      ${isKnown ? nothing : html`<option value="" selected disabled>None</option>`}
      ${(['minimize', 'maximize'] as const).map(
        (each) =>
          html`<option value=${each} .selected=${live(isKnown && each === direction)}>
            ${GOALS[each]}${each === direction ? suggested : ''}
          </option>`,
      )}
    </select>`;
  }

  #renderUnit({ name, unit }: MetricDefinition) {
    if (!this.who?.can_write) return unit ?? '';
    return html`<input
      class="input"
      aria-label="Unit of ${name}"
      maxlength="50"
      spellcheck="false"
      autocomplete="off"
      .value=${live(unit ?? '')}
      @change=${(event: Event) => {
        const wanted = (event.target as HTMLInputElement).value.trim() || null;
        void this.#save(
          () => defineMetric(this.api, name, { unit: wanted }, this.level),
          `The unit of ${name} is ${wanted ?? 'none'}.`,
        );
      }}
    />`;
  }

  #renderNew() {
    return html`<form @submit=${this.#onNew}>
      <input
        class="input"
        name="name"
        aria-label="Name of a metric"
        placeholder="Another metric, by its name"
        maxlength="250"
        required
        spellcheck="false"
        autocomplete="off"
      />
      <select class="select" name="direction" aria-label="Its goal">
        <option value="minimize">${GOALS.minimize}</option>
        <option value="maximize">${GOALS.maximize}</option>
      </select>
      <button class="button">Define</button>
    </form>`;
  }

  readonly #onNew = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const data = new FormData(form);
    const name = String(data.get('name')).trim();
    const direction = data.get('direction') as Direction;
    if (name === '') return;
    const isSaved = await this.#save(
      () => defineMetric(this.api, name, { direction }, this.level),
      `${name} is defined.`,
    );
    if (isSaved) form.reset();
  };

  /** What the server has is read again also after a refusal, so that the table never shows what is not so. */
  async #save(change: () => Promise<MetricDefinition>, thanks: string): Promise<boolean> {
    let isSaved = true;
    try {
      this.#take(await change());
      toast(thanks);
    } catch (error) {
      isSaved = false;
      toast(toApiError(error).message, { isError: true });
    }
    this.#definitions.reload();
    this.requestUpdate();
    return isSaved;
  }

  /** Shown at once, so that nothing flickers until all is read again. One metric of a level is primary. */
  #take(saved: MetricDefinition): void {
    this.#definitions.value = this.#definitions.value?.map((each) => {
      if (each.name === saved.name) return saved;
      return saved.is_primary ? { ...each, is_primary: false } : each;
    });
  }
}
