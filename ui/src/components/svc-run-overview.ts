import { consume } from '@lit/context';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { Units } from '../chart/groups.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { toEnvironment } from '../data/environment.js';
import { getJob, listJobRuns } from '../data/jobs.js';
import { readUnits } from '../data/metric-definitions.js';
import { listExperiments, listProjects } from '../data/projects.js';
import type { Run, RunSummary } from '../data/runs.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { isFilterableTag } from './run-cells.js';
import { fact, snapshotFact } from './record-parts.js';
import { runOverviewStyles } from './run-overview-styles.js';
import './svc-metrics-table.js';
import './svc-notice.js';
import './svc-skeleton.js';
import './svc-status.js';
import './svc-time.js';

const POLL_MS = 60_000;
const NO_UNITS: Units = new Map();

/** What is known of a run in short: where it belongs, the state of its metrics, its notes, and the other attempts of its job. */
@customElement('svc-run-overview')
export class SvcRunOverview extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;
  @property({ attribute: false }) summary: RunSummary | null = null;

  readonly #job = new Loader(this, {
    load: async (signal) => (this.run.job_id === null ? null : getJob(this.api, this.run.job_id, signal)),
    everyMs: POLL_MS,
  });
  readonly #siblings = new Loader(this, {
    load: async (signal) => (this.run.job_id === null ? [] : listJobRuns(this.api, this.run.job_id, signal)),
    everyMs: POLL_MS,
  });
  readonly #units = new Loader(this, {
    load: (signal) => readUnits(this.api, this.run.id, signal),
    everyMs: POLL_MS,
  });
  readonly #places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
    everyMs: POLL_MS,
  });

  static override styles = [baseStyles, controlStyles, panelStyles, runOverviewStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const { job_id: jobId } = this.run;
      if (jobId !== null && events.some((event) => event.job_id === jobId)) this.#siblings.refresh();
    });
  }

  override render() {
    const { run } = this;
    return html`<div class="overview">
      <div class="left">
        <section class="panel facts-panel" aria-label="Facts">
          <dl class="facts">
            ${fact('Project', this.#nameProject(run))} ${fact('Experiment', this.#nameExperiment(run))}
            ${fact('Started', html`<svc-time .from=${run.started_at}></svc-time>`)}
            ${fact('Duration', html`<svc-time elapsed .from=${run.started_at} .to=${run.finished_at}></svc-time>`)}
            ${run.epoch === null ? nothing : fact('Epoch', String(Number(run.epoch.toFixed(2))))}
            ${run.job_id ? fact('Job', html`<a href=${paths.job(run.job_id)}>${this.#job.value?.name ?? shortId(run.job_id)}</a>, attempt ${run.attempt ?? 1}`) : nothing}
            ${this.#job.value ? snapshotFact(this.#job.value) : nothing} ${fact('Source', run.source)}
            ${this.#renderCommit(run)} ${run.tags.length > 0 ? fact('Tags', this.#renderTags(run)) : nothing}
          </dl>
        </section>
        ${this.#renderNotes(run)} ${this.#renderSiblings()}
      </div>
      <section class="panel">${this.#renderSummary()}</section>
    </div>`;
  }

  #renderNotes({ notes }: Run) {
    if (notes === '') return nothing;
    return html`<section class="panel">
      <div class="panel-head"><h2>Notes</h2></div>
      <p class="notes">${notes}</p>
    </section>`;
  }

  /** The runs of the job, this one among them, the last attempt first. */
  #renderSiblings() {
    const runs = this.#siblings.value ?? [];
    if (runs.length < 2) return nothing;
    return html`<section class="panel">
      <div class="panel-head">
        <h2>Runs of this job</h2>
        <a class="all" href=${paths.runs({ job_id: this.run.job_id })}>Show as a table</a>
      </div>
      <ol class="siblings">
        ${runs.map((run) => this.#renderSibling(run))}
      </ol>
    </section>`;
  }

  #renderSibling({ id, name, attempt, status, started_at: startedAt }: Run) {
    const isThis = id === this.run.id;
    return html`<li aria-current=${isThis ? 'true' : 'false'}>
      <span class="number">Attempt ${attempt ?? 1}</span>
      <svc-status value=${status}></svc-status>
      ${isThis ? html`<span class="quiet">this run</span>` : html`<a class="truncate" href=${paths.run(id)}>${name}</a>`}
      <svc-time class="quiet" .from=${startedAt}></svc-time>
    </li>`;
  }

  #renderSummary() {
    const { summary } = this;
    if (!summary) return html`<svc-skeleton rows="4"></svc-skeleton>`;
    if (Object.keys(summary.metrics).length > 0)
      return html`<svc-metrics-table
        .summary=${summary}
        .units=${this.#units.value ?? NO_UNITS}
        .projectId=${this.run.project_id}
      ></svc-metrics-table>`;
    return html`<p class="none">No metric has been logged.</p>`;
  }

  #renderCommit({ id, environment }: Run) {
    const { commit } = toEnvironment(environment);
    if (!commit) return nothing;
    const state = [commit.branch, commit.isDirty ? 'with changes' : null].filter(Boolean).join(', ');
    return fact(
      'Commit',
      html`<a href=${paths.run(id, { tab: 'code' })}
          ><code title=${commit.id}>${commit.id.slice(0, 8)}</code></a
        >
        ${state}`,
    );
  }

  #renderTags({ tags }: Run) {
    return tags.map(
      (tag, index) =>
        html`${index === 0 ? '' : ', '}${isFilterableTag(tag) ? html`<a href=${paths.runs({ tags: tag })}>${tag}</a>` : html`<span>${tag}</span>`}`,
    );
  }

  #nameProject({ project_id: id }: Run) {
    if (!id) return '–';
    const name = this.#places.value?.[0].find((project) => project.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ project_id: id })}>${name}</a>`;
  }

  #nameExperiment({ experiment_id: id }: Run) {
    if (!id) return '–';
    const name = this.#places.value?.[1].find((experiment) => experiment.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ experiment_id: id })}>${name}</a>`;
  }
}
