import { consume } from '@lit/context';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getJob } from '../data/jobs.js';
import { getExperiment, getProject } from '../data/projects.js';
import type { Run } from '../data/runs.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import './svc-job-actions.js';

const POLL_MS = 60_000;

/**
 * Where a run belongs, as links: its job with the log, its project and experiment, a comparison. While it runs, its job can be cancelled. It appears with all
 * names, and a long one is cut, so that nothing is moved by them.
 */
@customElement('svc-run-place')
export class SvcRunPlace extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #job = new Loader(this, {
    load: async (signal) => (this.run.job_id === null ? null : getJob(this.api, this.run.job_id, signal)),
    everyMs: POLL_MS,
  });
  readonly #project = new Loader(this, {
    load: async (signal) =>
      this.run.project_id === null ? null : getProject(this.api, this.run.project_id, signal),
  });
  readonly #experiment = new Loader(this, {
    load: async (signal) =>
      this.run.experiment_id === null ? null : getExperiment(this.api, this.run.experiment_id, signal),
  });

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        --control-height: 1.75rem;
        display: flex;
        align-items: center;
        gap: var(--space-2) var(--space-4);
        min-height: var(--control-height);
        margin-bottom: var(--space-3);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        white-space: pre;
      }
      @media (pointer: coarse) {
        :host {
          --control-height: 2.5rem;
        }
      }
      :host([pending]) {
        visibility: hidden;
      }
      span {
        display: flex;
        min-width: 0;
      }
      span a {
        min-width: 0;
        margin: -4px;
        padding: 4px;
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--color-text);
        text-decoration: underline;
        text-decoration-color: var(--color-line-control);
        text-underline-offset: 3px;
      }
      .buttons {
        display: flex;
        flex: none;
        gap: var(--space-2);
      }
      @media (max-width: 40rem) {
        :host {
          flex-wrap: wrap;
        }
        span {
          width: 100%;
        }
      }
    `,
  ];

  constructor() {
    super();
    this.addEventListener('svc-job-changed', () => this.#job.refresh());
    new LiveEvents(this, (events) => {
      const { job_id: jobId } = this.run;
      if (jobId !== null && events.some((event) => event.job_id === jobId)) this.#job.refresh();
    });
  }

  /** A training may say where its run belongs after the run has begun. */
  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('run');
    const names = [this.#job, this.#project, this.#experiment];
    this.toggleAttribute(
      'pending',
      names.some(({ value, error }) => value === undefined && !error),
    );
    if (!before) return;
    if (before.project_id !== this.run.project_id) this.#project.reload({ clear: true });
    if (before.experiment_id !== this.run.experiment_id) this.#experiment.reload({ clear: true });
  }

  override render() {
    const { run } = this;
    return html`${this.#renderJob(run)} ${this.#renderGroup(run)}
      <div class="buttons">
        ${run.job_id === null ? nothing : html`<a class="button" href=${paths.job(run.job_id, { attempt: String(run.attempt ?? 1), view: 'log' })}>Log</a>`}
        <a class="button" href=${paths.compare({ runs: run.id })}>Compare</a>
        ${this.#renderCancel(run)}
      </div>`;
  }

  #renderJob({ job_id: id, attempt }: Run) {
    if (id === null) return nothing;
    const link = renderName(paths.job(id), this.#job.value, id);
    return html`<span>${'Job '}${link}${(attempt ?? 1) > 1 ? `, attempt ${attempt}` : nothing}</span>`;
  }

  /** A run may have a project without an experiment, and not the other way round. */
  #renderGroup({ project_id: project, experiment_id: experiment }: Run) {
    if (project === null) return nothing;
    const link = renderName(paths.project(project), this.#project.value, project);
    if (experiment === null) return html`<span>${link}</span>`;
    return html`<span
      >${link}${' / '}${renderName(paths.experiment(experiment), this.#experiment.value, experiment)}</span
    >`;
  }

  /** Of the attempt that runs: cancelling the job would end another one. */
  #renderCancel({ attempt, finished_at: finishedAt }: Run) {
    const job = this.#job.value;
    if (!job || finishedAt !== null || job.attempt !== attempt) return nothing;
    return html`<svc-job-actions cancel-only .job=${job}></svc-job-actions>`;
  }
}

function renderName(path: string, record: { readonly name: string } | null | undefined, id: string) {
  const name = record?.name ?? shortId(id);
  return html`<a href=${path} title=${name}><bdi>${name}</bdi></a>`;
}
