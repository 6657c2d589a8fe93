import { consume } from '@lit/context';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { apiContext } from '../app/contexts.js';
import { navigate, paths } from '../app/paths.js';
import '../components/svc-notice.js';
import '../components/svc-progress.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import { statusLabel } from '../components/svc-status.js';
import '../components/svc-time.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { listExperiments, listProjects, type Experiment, type Project } from '../data/projects.js';
import { listRuns, type Run } from '../data/runs.js';
import { shortId } from '../format.js';
import { filterStyles } from '../styles/filter-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tableStyles } from '../styles/table-styles.js';

const STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'IMPORTED', 'LOST'] as const;
const FIRST = 200;
const MOST = 1000;
/** The server is asked once the typing rests. */
const TYPING_MS = 250;

/** Runs, newest first, by project, experiment, status, name and tags. */
@customElement('svc-runs-page')
export class SvcRunsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  private limit = FIRST;
  private typing: ReturnType<typeof setTimeout> | undefined;
  /** What stands in the search field and not yet in the address. */
  private draft: string | null = null;

  private readonly runs = new Loader(this, { load: (signal) => this.loadRuns(signal), everyMs: 10_000 });
  private readonly places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
    everyMs: 60_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    tableStyles,
    filterStyles,
    css`
      :host {
        --columns: 6.75rem minmax(9rem, 2.4fr) minmax(7rem, 1.6fr) minmax(8rem, 1.4fr) 5rem 5rem;
      }
      .places {
        display: flex;
        gap: var(--space-2);
        margin-left: auto;
      }
      .search {
        width: 16rem;
        margin-left: auto;
      }
      .tags {
        flex: 0 1000 auto;
        display: flex;
        gap: var(--space-1);
        min-width: 0;
        overflow: hidden;
      }
      .tag {
        flex: none;
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-neutral);
        font-size: var(--text-xs);
        white-space: nowrap;
      }
      .title .name {
        flex: 0 1 auto;
        min-width: 6rem;
      }
      .title {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
      }
      @media (max-width: 56rem) {
        .places {
          margin-left: 0;
        }
        .search {
          width: 100%;
        }
        .row {
          grid-template:
            'name status' auto
            'place times' auto
            'progress progress' auto / minmax(0, 1fr) auto;
          gap: 0.375rem var(--space-2);
          padding-block: var(--space-3);
        }
        .title {
          flex-wrap: wrap;
          grid-area: name;
          font-size: var(--text-md);
        }
        .title .name {
          flex: 1 1 0;
        }
        .title .tags {
          flex: 1 0 100%;
        }
        .status {
          grid-area: status;
        }
        .place {
          grid-area: place;
        }
        .progress {
          grid-area: progress;
        }
        .progress.none {
          display: none;
        }
        .age {
          display: none;
        }
        .lasted {
          grid-area: times;
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.run_id || event.job_id)) this.runs.refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('query');
    if (before === undefined) return;
    this.limit = FIRST;
    // While somebody types, the last list stays until the next is here.
    this.runs.reload({ clear: before.get('q') === this.query.get('q') });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.typing);
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
          .value=${live(this.draft ?? this.filter.q ?? '')}
          @input=${this.onSearch}
        />
      </header>
      ${this.renderFilters()}
      <svc-stale
        .error=${this.runs.value ? this.runs.error : null}
        @svc-retry=${() => this.runs.reload()}
      ></svc-stale>
      <section class="panel" aria-busy=${this.runs.value ? 'false' : 'true'}>${this.renderList()}</section>
    `;
  }

  private get filter() {
    const { query } = this;
    return {
      status: query.get('status'),
      project_id: query.get('project_id'),
      experiment_id: query.get('experiment_id'),
      q: query.get('q'),
      tags: query.get('tags'),
    };
  }

  private renderFilters() {
    const [projects, experiments] = this.places.value ?? [[], []];
    const { project_id: projectId, experiment_id: experimentId } = this.filter;
    const ofProject = experiments.filter((one) => projectId === null || one.project_id === projectId);
    return html`<div class="filters" role="group" aria-label="Filter by status">
      ${this.renderStatus(null, 'All')}
      ${STATUSES.map((status) => this.renderStatus(status, statusLabel(status)))}
      ${this.filter.tags === null ? nothing : this.renderTagFilter(this.filter.tags)}
      <div class="places">
        ${this.renderSelect('All projects', projects, projectId, (id) => this.go({ project_id: id, experiment_id: null }))}
        ${this.renderSelect('All experiments', ofProject, experimentId, (id) => this.go({ experiment_id: id }))}
      </div>
    </div>`;
  }

  private renderStatus(status: string | null, label: string) {
    return html`<button
      aria-pressed=${status === this.filter.status ? 'true' : 'false'}
      @click=${() => this.go({ status })}
    >
      ${label}
    </button>`;
  }

  private renderTagFilter(tags: string) {
    return html`<button
      aria-pressed="true"
      aria-label="Tagged ${tags}. Show runs without this tag too"
      @click=${() => this.go({ tags: null })}
    >
      ${tags} <span aria-hidden="true">×</span>
    </button>`;
  }

  private renderSelect(
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

  private renderList() {
    const runs = this.runs.value;
    if (!runs) return this.runs.error ? this.renderError() : html`<svc-skeleton rows="8"></svc-skeleton>`;
    if (runs.length === 0) return this.renderEmpty();
    return html`
      <div role="table" aria-label="Runs">${this.renderRows(runs)}</div>
      ${runs.length === this.limit && this.limit < MOST ? this.renderMore() : nothing}
    `;
  }

  private renderRows(runs: readonly Run[]) {
    return html`
      <div class="head" role="row">
        ${['Status', 'Run', 'Project / experiment', 'Progress'].map(
          (title) => html`<span role="columnheader">${title}</span>`,
        )}
        ${['Created', 'Duration'].map((title) => html`<span class="number" role="columnheader">${title}</span>`)}
      </div>
      ${repeat(
        runs,
        (run) => run.id,
        (run) => this.renderRun(run),
      )}
    `;
  }

  private renderRun(run: Run) {
    const place = this.describePlace(run);
    return html`<div class="row" role="row">
      <div class="status" role="cell"><svc-status value=${run.status}></svc-status></div>
      <div class="title" role="cell">
        <a class="name truncate" href=${paths.run(run.id)} title=${run.name}>${run.name}</a>
        <code class="quiet" title=${run.id}>${shortId(run.id)}</code>
        ${run.tags.length > 0 ? this.renderTags(run.tags) : nothing}
      </div>
      <div class="place truncate quiet" role="cell" title=${place}>${place}</div>
      <div class="progress ${run.step === null ? 'none' : ''}" role="cell">
        <svc-progress .step=${run.step} .max=${run.max_steps} status=${run.status}></svc-progress>
      </div>
      <div class="age number quiet" role="cell"><svc-time .from=${run.created_at}></svc-time></div>
      <div class="lasted number" role="cell">
        <svc-time elapsed .from=${run.started_at} .to=${run.finished_at}></svc-time>
      </div>
    </div>`;
  }

  private renderTags(tags: readonly string[]) {
    return html`<span class="tags" title=${tags.join(', ')}
      >${tags.map(
        (tag) =>
          html`<a class="tag above" href=${paths.runs({ ...this.filter, tags: tag })} aria-label="Tag ${tag}"
            >${tag}</a
          >`,
      )}</span
    >`;
  }

  private renderMore() {
    return html`<div class="more">
      <button class="button" @click=${this.showMore}>Show older runs</button>
    </div>`;
  }

  private renderEmpty() {
    if (Object.values(this.filter).some(Boolean)) {
      return html`<svc-notice icon="runs" headline="No such run"
        ><a href=${paths.runs()}>Show all runs</a></svc-notice
      >`;
    }
    return html`<svc-notice
      icon="runs"
      headline="No runs yet"
      command="svc submit --follow -- python train.py"
      >A run begins with each training job, and with svc.init() in Python outside a job.</svc-notice
    >`;
  }

  private renderError() {
    return html`<svc-notice
      tone="danger"
      headline="The runs could not be loaded"
      action="Try again"
      @svc-action=${() => this.runs.reload()}
      >${this.runs.error?.message}</svc-notice
    >`;
  }

  private describePlace({ project_id: projectId, experiment_id: experimentId }: Run): string {
    const [projects, experiments] = this.places.value ?? [[], []];
    const nameOf = (places: readonly { id: string; name: string }[], id: string | null): string | null =>
      id && (places.find((place) => place.id === id)?.name ?? shortId(id));
    return (
      [nameOf(projects, projectId), nameOf(experiments, experimentId)].filter(Boolean).join(' / ') || '–'
    );
  }

  private go(change: Record<string, string | null>): void {
    navigate(paths.runs({ ...this.filter, ...change }), { replace: true });
  }

  private loadRuns(signal: AbortSignal): Promise<Run[]> {
    return listRuns(this.api, { ...this.filter, limit: this.limit }, signal);
  }

  private readonly onSearch = (event: Event): void => {
    const q = (event.target as HTMLInputElement).value;
    this.draft = q;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => {
      this.draft = null;
      this.go({ q: q.trim() === '' ? null : q });
    }, TYPING_MS);
  };

  private readonly showMore = (): void => {
    this.limit = MOST;
    this.runs.reload();
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-runs-page': SvcRunsPage;
  }
}
