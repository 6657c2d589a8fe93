import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { TypedSearch } from '../controllers/typed-search.js';
import type { CheckpointListView } from '../data/checkpoint-list.js';
import type { Experiment, Project } from '../data/projects.js';
import { shortId } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';

/** A metric that checkpoints may have values of. */
export interface MetricChoice {
  readonly name: string;
  /** Somebody knows whether low or high values are good. */
  readonly isRanked: boolean;
}

/** What changes of the view; `isTyped`: letter by letter. */
export interface CheckpointListChange {
  readonly changes: Partial<CheckpointListView>;
  readonly isTyped?: boolean;
}

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly isOff?: boolean;
}

const MOST_METRICS = 1000;

/** Which checkpoints are listed, by which metric their values are and in which order. Fires `svc-view` with a CheckpointListChange. */
@customElement('svc-checkpoint-filters')
export class SvcCheckpointFilters extends LitElement {
  @property({ attribute: false }) view!: CheckpointListView;
  @property({ attribute: false }) projects: readonly Project[] = [];
  @property({ attribute: false }) experiments: readonly Experiment[] = [];
  @property({ attribute: false }) metrics: readonly MetricChoice[] = [];
  /** null: none applies. */
  @property({ attribute: false }) primary: string | null = null;
  readonly #search = new TypedSearch(this, {
    text: () => this.view.q,
    onRest: (q) => this.#change({ q }, true),
  });

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2) var(--space-3);
        margin-bottom: var(--space-3);
      }
      .input {
        flex: 0 1 14rem;
      }
      .select {
        max-width: 13rem;
      }
      .order {
        display: flex;
        gap: var(--space-2) var(--space-3);
        min-width: 0;
        margin-left: auto;
      }
      .order .select {
        max-width: 14rem;
      }
      @media (max-width: 56rem) {
        .input {
          flex: 1 1 100%;
        }
        :host > .select {
          flex: 1 1 40%;
          max-width: none;
        }
        .order {
          flex: 1 1 100%;
          flex-wrap: wrap;
          margin: 0;
        }
        .order .select {
          flex: 1 1 12rem;
          max-width: none;
        }
      }
    `,
  ];

  override render() {
    return html`<input
        class="input"
        type="search"
        aria-label="Search by name or run"
        placeholder="Name or run"
        spellcheck="false"
        maxlength="200"
        .value=${live(this.#search.text)}
        @input=${this.#search.onInput}
      />
      ${this.view.run_id === null ? this.#renderPlaces() : nothing}
      <div class="order">${this.#renderMetric()} ${this.#renderSort()}</div>`;
  }

  #renderPlaces() {
    const { project_id: projectId, experiment_id: experimentId } = this.view;
    const projectOf = new Map(this.projects.map(({ id, name }) => [id, name]));
    const experiments = this.experiments
      .filter(({ project_id }) => projectId === null || project_id === projectId)
      .map(({ id, name, project_id }) => ({
        value: id,
        label: projectId === null ? `${projectOf.get(project_id) ?? shortId(project_id)} / ${name}` : name,
      }));
    const projects = this.projects.map(({ id, name }) => ({ value: id, label: name }));
    return html`${this.#renderSelect('project', withChosen(projects, projectId), projectId, 'All projects', (id) => this.#change({ project_id: id, experiment_id: null }))}
    ${this.#renderSelect('experiment', withChosen(experiments, experimentId), experimentId, 'All experiments', (id) => this.#change({ experiment_id: id }))}`;
  }

  #renderMetric() {
    const { metric } = this.view;
    const choices = this.metrics.slice(0, MOST_METRICS).map(({ name, isRanked }) => ({
      value: name,
      label: isRanked ? name : `${name} (no direction)`,
      isOff: !isRanked,
    }));
    return this.#renderSelect(
      'Metric',
      withChosen(choices, metric, String),
      metric,
      this.#usualMetric,
      (name) => this.#change({ metric: name }),
    );
  }

  /** Projects and experiments have primary metrics of their own: over several that of the newest run counts. */
  get #usualMetric(): string {
    if (this.primary === null) return 'Choose a metric';
    const { run_id: runId, experiment_id: experimentId } = this.view;
    return `${this.primary} (${(runId ?? experimentId) ? 'primary' : 'newest run'})`;
  }

  #renderSort() {
    const orders: readonly Choice[] = [
      { value: 'value', label: 'Best first' },
      { value: 'step', label: 'Highest step first' },
    ];
    return this.#renderSelect('Order', orders, this.view.sort, 'Newest first', (sort) =>
      this.#change({ sort: sort as CheckpointListView['sort'] }),
    );
  }

  #renderSelect(
    label: string,
    choices: readonly Choice[],
    chosen: string | null,
    usual: string,
    onChoice: (value: string | null) => void,
  ) {
    return html`<select
      class="select"
      aria-label=${label}
      @change=${(event: Event) => onChoice((event.target as HTMLSelectElement).value || null)}
    >
      <option value="" ?selected=${chosen === null}>${usual}</option>
      ${choices.map(
        ({ value, label: text, isOff = false }) =>
          html`<option value=${value} ?selected=${value === chosen} ?disabled=${isOff && value !== chosen}>
            ${text}
          </option>`,
      )}
    </select>`;
  }

  #change(changes: Partial<CheckpointListView>, isTyped = false): void {
    const detail: CheckpointListChange = { changes, isTyped };
    this.dispatchEvent(new CustomEvent('svc-view', { detail }));
  }
}

/** What is in the address is a choice, also before its name is known. */
function withChosen(
  choices: readonly Choice[],
  chosen: string | null,
  toLabel: (value: string) => string = shortId,
): readonly Choice[] {
  if (chosen === null || choices.some(({ value }) => value === chosen)) return choices;
  return [...choices, { value: chosen, label: toLabel(chosen) }];
}
