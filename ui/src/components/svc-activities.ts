import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { primaryMetric, runIdOf, type Activity } from '../data/overview.js';
import type { NodeRecord } from '../data/nodes.js';
import type { RunSummary } from '../data/runs.js';
import { formatValue } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { panelListStyles } from './panel-list-styles.js';
import './svc-progress.js';
import './svc-status.js';
import './svc-time.js';

/** What runs now: how far each is, its primary metric, and where it runs. */
@customElement('svc-activities')
export class SvcActivities extends LitElement {
  @property({ attribute: false }) activities: readonly Activity[] = [];
  /** By the id of the run. */
  @property({ attribute: false }) summaries: ReadonlyMap<string, RunSummary> = new Map();
  @property({ attribute: false }) nodes: readonly NodeRecord[] = [];

  static override styles = [
    baseStyles,
    panelListStyles,
    css`
      :host {
        container-type: inline-size;
      }
      li {
        grid-template-columns: minmax(0, 1fr) 9rem 8rem 4.5rem;
      }
      .metric {
        display: grid;
        font-size: var(--text-xs);
      }
      .metric b {
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
        font-variant-numeric: tabular-nums;
      }
      .metric a {
        line-height: var(--target-min);
      }
      .metric .label {
        color: var(--color-text-3);
      }
      .title {
        display: flex;
      }
      .name {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
        overflow-wrap: anywhere;
      }
      @container (max-width: 34rem) {
        li {
          grid-template:
            'title end' auto
            'progress metric' auto / minmax(0, 1fr) 8rem;
          gap: var(--space-1) var(--space-4);
        }
        .what {
          grid-area: title;
        }
        .progress {
          grid-area: progress;
        }
        .metric {
          grid-area: metric;
          text-align: right;
        }
        .end {
          grid-area: end;
        }
      }
    `,
  ];

  override render() {
    return html`<ul aria-label="What runs">
      ${repeat(
        this.activities,
        ({ id }) => id,
        (activity) => this.#renderActivity(activity),
      )}
    </ul>`;
  }

  #renderActivity(activity: Activity) {
    const { job, run, startedAt } = activity;
    const runId = runIdOf(activity);
    const summary = runId === null ? undefined : this.summaries.get(runId);
    const name = job?.name ?? run!.name;
    return html`<li>
      <div class="what">
        <p class="title">
          <a class="name" href=${job ? paths.job(job.id) : paths.run(run!.id)} title=${name}>${name}</a>
        </p>
        <p class="sub">${job ? this.#describePlace(activity) : 'Run without a job'}</p>
      </div>
      <div class="progress">${this.#renderProgress(activity, summary)}</div>
      ${this.#renderMetric(runId, summary)}
      <div class="end"><svc-time elapsed .from=${startedAt}></svc-time></div>
    </li>`;
  }

  /** Nothing while no step is known. */
  #renderProgress({ job, run }: Activity, summary: RunSummary | undefined) {
    if (job?.status === 'DISPATCHING') return html`<svc-status value="DISPATCHING"></svc-status>`;
    const step = summary?.step ?? run?.step ?? null;
    if (step === null) return nothing;
    return html`<svc-progress
      .step=${step}
      .max=${summary?.max_steps ?? run?.max_steps ?? null}
    ></svc-progress>`;
  }

  #renderMetric(runId: string | null, summary: RunSummary | undefined) {
    const metric = primaryMetric(summary);
    if (runId === null) return html`<div class="metric"></div>`;
    if (!metric) return html`<div class="metric"><a href=${paths.run(runId)}>Open the run</a></div>`;
    const value = typeof metric.value === 'number' ? formatValue(metric.value) : metric.value;
    return html`<div class="metric">
      <a class="label truncate" href=${paths.run(runId)} title=${metric.name}>${metric.name}</a
      ><b>${value}</b>
    </div>`;
  }

  #describePlace({ job }: Activity) {
    const { node_id: id, gpu_indices: gpus } = job!;
    if (id === null) return nothing;
    const name = this.nodes.find((node) => node.id === id)?.name ?? 'a node that is gone';
    const place = gpus.length > 0 ? `GPU ${gpus.join(', ')}` : 'CPU';
    return html`<a href=${paths.node(id)}>${name}</a> · ${place}`;
  }
}
