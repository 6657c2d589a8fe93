import type { Run } from '@svc/contract';
import { RUN_STATUSES } from '@svc/contract/protocol';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import type { Experiment, Project } from '../data/projects.js';
import type { RunFilter } from '../data/runs.js';
import { formatCount, shortId } from '../format.js';
import { paths } from '../paths.js';
import { chipStyles } from '../styles/filter-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { GROUP_FIELDS, type RunTableView } from '../table/run-table-view.js';
import { isFilterableTag } from './run-cells.js';
import { runFiltersStyles } from './run-filters-styles.js';
import './svc-filters.js';
import { statusLabel } from './svc-status.js';

export type Places = readonly [readonly Project[], readonly Experiment[]];

const CHOICES = [
  { value: null, label: 'All' },
  ...RUN_STATUSES.map((value) => ({ value, label: statusLabel(value) })),
];
const MOST_OFFERED = 200;

/** Above a table of runs: filters, groups, the way to the columns, and what to do with the selected runs. Fires `svc-view` with what changes, and `svc-pick-columns`. */
@customElement('svc-run-filters')
export class SvcRunFilters extends LitElement {
  @property({ attribute: false }) view!: RunTableView;
  /** Of which the tags are offered. */
  @property({ attribute: false }) runs: readonly Run[] = [];
  @property({ attribute: false }) configKeys: readonly string[] = [];
  @property({ attribute: false }) places: Places = [[], []];
  @property({ attribute: false }) columnCount = 0;

  static override styles = [baseStyles, controlStyles, chipStyles, runFiltersStyles];

  override render() {
    return html`${this.#renderFilters()} ${this.#renderTools()}`;
  }

  #renderFilters() {
    return html`<svc-filters
      label="Filter by status"
      .choices=${CHOICES}
      .value=${this.view.filter.status ?? null}
      @svc-filter=${(event: CustomEvent<string | null>) => this.#filterBy({ status: event.detail })}
    >
      ${this.#tags.map((tag) => this.#renderTagFilter(tag))} ${this.#renderJobFilter()}
    </svc-filters>`;
  }

  get #tags(): string[] {
    return toTags(this.view.filter.tags);
  }

  #renderTagFilter(tag: string) {
    const others = this.#tags.filter((one) => one !== tag);
    return html`<button
      class="chip active"
      aria-pressed="true"
      aria-label="Tagged ${tag}. Show runs without this tag too"
      title=${tag}
      @click=${() => this.#filterBy({ tags: others.join(',') || null })}
    >
      <span class="truncate">${tag}</span> <span aria-hidden="true">×</span>
    </button>`;
  }

  #renderJobFilter() {
    const { job_id: jobId } = this.view.filter;
    if (!jobId) return nothing;
    return html`<button
      class="chip active"
      aria-pressed="true"
      aria-label="Of job ${jobId}. Show runs of other jobs too"
      title=${jobId}
      @click=${() => this.#filterBy({ job_id: null })}
    >
      job ${shortId(jobId)} <span aria-hidden="true">×</span>
    </button>`;
  }

  /** The tags of the runs that are loaded: for the keyboard, which does not come to those in the rows. */
  #renderTagChoice() {
    const items = this.runs;
    const tags = [...new Set(items.flatMap((run) => run.tags))]
      .filter((tag) => isFilterableTag(tag) && !this.#tags.includes(tag))
      .sort()
      .slice(0, MOST_OFFERED);
    return html`<select
      class="select tag"
      aria-label="tag"
      .value=${live('')}
      @change=${(event: Event) => this.#addTag((event.target as HTMLSelectElement).value)}
    >
      <option value="">Any tag</option>
      ${tags.map((tag) => html`<option value=${tag}>${tag}</option>`)}
    </select>`;
  }

  #renderSelect(
    all: string,
    places: readonly (Project | Experiment)[],
    chosen: string | null,
    onChoice: (id: string | null) => void,
  ) {
    return html`<select
      class="select"
      aria-label=${all.replace('All ', '')}
      @change=${(event: Event) => onChoice((event.target as HTMLSelectElement).value || null)}
    >
      <option value="" ?selected=${chosen === null}>${all}</option>
      ${places.map(
        (place) =>
          html`<option value=${place.id} ?selected=${place.id === chosen}>
            ${place.name} (${place.run_count})
          </option>`,
      )}
    </select>`;
  }

  #renderTools() {
    return html`<div class="tools">
      <button
        class="button"
        aria-haspopup="dialog"
        @click=${() => this.dispatchEvent(new CustomEvent('svc-pick-columns'))}
      >
        Columns <span class="count">${this.columnCount}</span>
      </button>
      ${this.#renderGroupChoice()} ${this.#renderPlaces()} ${this.#renderChosen()}
    </div>`;
  }

  #renderPlaces() {
    const [projects, experiments] = this.places;
    const { project_id: projectId = null, experiment_id: experimentId = null } = this.view.filter;
    const shown =
      projectId === null
        ? experiments.map((one) => ({ ...one, name: `${nameOf(projects, one.project_id)} / ${one.name}` }))
        : experiments.filter((one) => one.project_id === projectId);
    return html`${this.#renderTagChoice()}
    ${this.#renderSelect('All projects', projects, projectId, (id) => this.#filterBy({ project_id: id, experiment_id: null }))}
    ${this.#renderSelect('All experiments', shown, experimentId, (id) => this.#filterBy({ experiment_id: id }))}`;
  }

  #renderGroupChoice() {
    const { group } = this.view;
    const keys = this.configKeys;
    const isKnown = group === null || !group.startsWith('config:') || keys.includes(group.slice(7));
    const option = (id: string, label: string) =>
      html`<option value=${id} ?selected=${id === group}>${label}</option>`;
    return html`<select class="select" aria-label="Group" @change=${this.#onGroup}>
      ${option('', 'No groups')}
      ${GROUP_FIELDS.map((name) => option(name, `By ${name === 'tags' ? 'tag' : name}`))}
      ${
        keys.length === 0 && isKnown
          ? nothing
          : html`<optgroup label="By config">
              ${isKnown ? nothing : option(group, group.slice(7))}
              ${keys.slice(0, MOST_OFFERED).map((key) => option(`config:${key}`, key))}
            </optgroup>`
      }
    </select>`;
  }

  #renderChosen() {
    const { selected } = this.view;
    if (selected.length === 0) return nothing;
    return html`<div class="chosen" role="group" aria-label="Selected runs">
      <span>${formatCount(selected.length)} selected</span>
      ${
        selected.length < 2
          ? nothing
          : html`<a class="button primary" href=${paths.compare({ runs: selected.join(',') })}>Compare</a>`
      }
      <button class="button plain" @click=${() => this.#go({ selected: [] })}>Clear</button>
    </div>`;
  }

  readonly #onGroup = (event: Event): void => {
    this.#go({ group: (event.target as HTMLSelectElement).value || null, closed: [] });
  };

  #addTag(tag: string): void {
    if (tag !== '') this.#filterBy({ tags: withTag(this.view.filter.tags, tag) });
  }

  #filterBy(change: { [K in keyof RunFilter]: string | null }): void {
    this.#go({ filter: { ...this.view.filter, ...change } as RunFilter });
  }

  #go(change: Partial<RunTableView>): void {
    this.dispatchEvent(new CustomEvent('svc-view', { detail: change }));
  }
}

/** The tags of a filter, and that one. */
export function withTag(tags: string | null | undefined, tag: string): string {
  return [...new Set([...toTags(tags), tag])].join(',');
}

function toTags(tags: string | null | undefined): string[] {
  return (tags ?? '').split(',').filter((tag) => tag.trim() !== '');
}

function nameOf(places: readonly { id: string; name: string }[], id: string | null): string | null {
  return id && (places.find((place) => place.id === id)?.name ?? shortId(id));
}
