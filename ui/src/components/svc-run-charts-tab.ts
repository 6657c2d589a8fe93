import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { Run, RunSummary } from '../data/runs.js';
import { paths } from '../paths.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import './svc-notice.js';
import './svc-run-charts.js';
import './svc-skeleton.js';

/** The curves of a run, or how the first one comes about. */
@customElement('svc-run-charts-tab')
export class SvcRunChartsTab extends LitElement {
  @property({ attribute: false }) run!: Run;
  @property({ attribute: false }) summary: RunSummary | null = null;

  static override styles = [
    baseStyles,
    panelStyles,
    css`
      .none {
        padding: var(--space-8) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        text-align: center;
      }
      .none a {
        text-decoration: underline;
      }
    `,
  ];

  override render() {
    const { run, summary } = this;
    const isLive = run.status === 'RUNNING' || run.status === 'LOST';
    if (!summary) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    if (Object.keys(summary.metrics).length > 0)
      return html`<svc-run-charts
        .runId=${run.id}
        .summary=${summary}
        ?live=${isLive}
        ?lost=${run.status === 'LOST'}
      ></svc-run-charts>`;
    if (!isLive)
      return html`<section class="panel">
        <p class="none">This run ended without logging a metric. ${this.#renderWhy()}</p>
      </section>`;
    return html`<section class="panel">
      <svc-notice
        icon="runs"
        headline="No metrics yet"
        command=${'import svc\nrun = svc.init()\nrun.log({"train/loss": loss}, step=step)'}
        >Log from the training code and the curves appear here.</svc-notice
      >
    </section>`;
  }
  /** The cause is told on the page of the job. */
  #renderWhy() {
    const { status, job_id: jobId, attempt } = this.run;
    if (status !== 'FAILED' || jobId === null) return nothing;
    return html`<a href=${paths.job(jobId, { attempt: attempt === null ? null : String(attempt) })}
      >Why it failed</a
    >`;
  }
}
