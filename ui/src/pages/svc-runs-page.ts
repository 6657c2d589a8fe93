import { consume } from '@lit/context';
import type { Run } from '@svc/contract';
import { RUN_STATUSES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-filters.js';
import type { Column } from '../components/svc-list.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-run-row.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { readRuns } from '../data/lists.js';
import { listExperiments, listProjects, type Experiment, type Project } from '../data/projects.js';
import { getRun, type RunStatus } from '../data/runs.js';
import { shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { chipStyles } from '../styles/filter-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';

const CHOICES = [
  { value: null, label: 'All' },
  ...RUN_STATUSES.map((value) => ({ value, label: statusLabel(value) })),
];
/** The server is asked once the typing rests. */
const TYPING_MS = 250;
const COLUMNS: readonly Column[] = [
  { title: 'Status' },
  { title: 'Run' },
  { title: 'Project' },
  { title: 'Progress' },
  { title: 'Created', isNumber: true },
  { title: 'Duration', isNumber: true },
];

/** Runs, newest first, by project, experiment, status, name and tags. */
@customElement('svc-runs-page')
export class SvcRunsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  #typing: ReturnType<typeof setTimeout> | undefined;
  /** What stands in the search field and not yet in the address. */
  #draft: string | null = null;

  readonly #runs = new ListController<Run>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => readRuns(this.api, this.#filter, last, signal),
    readItem: (id) => this.#readRun(id),
    everyMs: 10_000,
  });
  readonly #places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
    everyMs: 60_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    chipStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 2.4fr) minmax(7rem, 1.6fr) minmax(8rem, 1.4fr) 5rem 5rem;
      }
      .places {
        display: flex;
        gap: var(--space-2);
        margin-left: auto;
      }
      .places .select {
        max-width: 15rem;
      }
      .search {
        width: 16rem;
        margin-left: auto;
      }
      @media (max-width: 56rem) {
        .places {
          margin-left: 0;
        }
        .search {
          width: 100%;
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (!events.some((event) => event.run_id || event.job_id)) return;
      this.#runs.refreshItems(new Set(events.flatMap((event) => event.run_id ?? [])));
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#typing);
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Runs</h1>
        <input
          class="input search"
          type="search"
          aria-label="Search runs by name"
          placeholder="Search by name"
          spellcheck="false"
          maxlength="200"
          .value=${live(this.#draft ?? this.#filter.q ?? '')}
          @input=${this.#onSearch}
        />
      </header>
      ${this.#renderFilters()}
      <svc-list
        noun="run"
        .columns=${COLUMNS}
        .view=${this.#runs.view}
        .renderItems=${(runs: readonly Run[]) => this.#renderRows(runs)}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #filter() {
    const { query } = this;
    return {
      status: query.get('status') as RunStatus | null,
      project_id: query.get('project_id'),
      experiment_id: query.get('experiment_id'),
      q: query.get('q'),
      tags: query.get('tags'),
    };
  }

  #renderFilters() {
    const [projects, experiments] = this.#places.value ?? [[], []];
    const { status, tags, project_id: projectId, experiment_id: experimentId } = this.#filter;
    const shown =
      projectId === null
        ? experiments.map((one) => ({ ...one, name: `${nameOf(projects, one.project_id)} / ${one.name}` }))
        : experiments.filter((one) => one.project_id === projectId);
    return html`<svc-filters
      label="Filter by status"
      .choices=${CHOICES}
      .value=${status}
      @svc-filter=${(event: CustomEvent<string | null>) => this.#go({ status: event.detail })}
    >
      ${tags === null ? nothing : this.#renderTagFilter(tags)}
      <div class="places">
        ${this.#renderSelect('All projects', projects, projectId, (id) => this.#go({ project_id: id, experiment_id: null }))}
        ${this.#renderSelect('All experiments', shown, experimentId, (id) => this.#go({ experiment_id: id }))}
      </div>
    </svc-filters>`;
  }

  #renderTagFilter(tags: string) {
    return html`<button
      class="chip"
      aria-pressed="true"
      aria-label="Tagged ${tags}. Show runs without this tag too"
      @click=${() => this.#go({ tags: null })}
    >
      ${tags} <span aria-hidden="true">×</span>
    </button>`;
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

  #renderRows(runs: readonly Run[]) {
    const filter = this.#filter;
    return html`${repeat(
      runs,
      (run) => run.id,
      (run) =>
        html`<svc-run-row .run=${run} .place=${this.#describePlace(run)} .filter=${filter}></svc-run-row>`,
    )}`;
  }

  #renderEmpty() {
    if (Object.values(this.#filter).some(Boolean)) {
      return html`<svc-notice icon="runs" headline="No runs match the filter"
        ><a href=${paths.runs()}>Show all runs</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="runs"
      headline="No runs yet"
      command="svc submit --follow -- python3 train.py"
      >Each training job starts a run; outside a job, svc.init() in Python starts one.</svc-notice
    >`;
  }

  #describePlace({ project_id: projectId, experiment_id: experimentId }: Run): string {
    const [projects, experiments] = this.#places.value ?? [[], []];
    const names = [nameOf(projects, projectId), nameOf(experiments, experimentId)];
    return names.filter(Boolean).join(' / ') || '–';
  }

  /** null once the run is no longer of the status that is shown; events change no other part of the filter. */
  async #readRun(id: string): Promise<Run | null> {
    const run = await getRun(this.api, id);
    const { status } = this.#filter;
    return status === null || run.status === status ? run : null;
  }

  #go(change: Record<string, string | null>): void {
    navigate(paths.runs({ ...this.#filter, ...change }), { replace: true });
  }

  readonly #onSearch = (event: Event): void => {
    const q = (event.target as HTMLInputElement).value;
    this.#draft = q;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => {
      this.#draft = null;
      this.#go({ q: q.trim() === '' ? null : q });
    }, TYPING_MS);
  };
}

function nameOf(places: readonly { id: string; name: string }[], id: string | null): string | null {
  return id && (places.find((place) => place.id === id)?.name ?? shortId(id));
}
