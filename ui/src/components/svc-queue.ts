import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Job } from '../data/jobs.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { describeOutcome, describeResources } from './job-words.js';
import { panelListStyles } from './panel-list-styles.js';
import './svc-time.js';

/** Jobs that wait, and why. */
@customElement('svc-queue')
export class SvcQueue extends LitElement {
  @property({ attribute: false }) jobs: readonly Job[] = [];

  static override styles = [
    baseStyles,
    panelListStyles,
    css`
      li {
        grid-template-columns: minmax(0, 1fr) auto;
      }
      p {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
        min-width: 0;
      }
      p > span {
        flex: none;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      p.sub {
        display: block;
      }
    `,
  ];

  override render() {
    return html`<ol aria-label="What waits">
      ${repeat(
        this.jobs,
        ({ id }) => id,
        (job) => this.#renderJob(job),
      )}
    </ol>`;
  }

  #renderJob(job: Job) {
    return html`<li>
      <div>
        <p>
          <a class="name truncate" href=${paths.job(job.id)} title=${job.name}>${job.name}</a>
          <span>${describeResources(job)}</span
          >${job.priority === 0 ? nothing : html`<span>priority ${job.priority}</span>`}
        </p>
        <p class="sub">${describeOutcome(job)}</p>
      </div>
      <div class="end"><svc-time elapsed .from=${job.queued_at}></svc-time></div>
    </li>`;
  }
}
