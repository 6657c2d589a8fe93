import type { Run } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { rowStyles } from '../styles/table-styles.js';
import './svc-progress.js';
import './svc-status.js';
import './svc-time.js';

/** A run in a list. */
@customElement('svc-run-row')
export class SvcRunRow extends LitElement {
  @property({ attribute: false }) run!: Run;
  /** The names of its project and experiment. */
  @property({ attribute: false }) place = '';
  /** The filter of the list: a tag that is chosen is added to it. */
  @property({ attribute: false }) filter: Readonly<Record<string, string | null>> = {};

  static override styles = [
    baseStyles,
    rowStyles,
    css`
      /* One line, in the room that the name leaves: a tag that does not fit is not shown. */
      .tags {
        flex: 1 1 0;
        align-self: center;
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-1);
        min-width: 0;
        height: 1.5em;
        overflow: hidden;
      }
      .tag {
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-neutral);
        font-size: var(--text-xs);
        white-space: nowrap;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .title {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
      }
      @media (max-width: 56rem) {
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
          max-width: calc(100% - 4.75rem);
        }
        .title .tags {
          flex: 1 0 100%;
        }
        .status {
          grid-area: status;
          align-self: start;
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

  override render() {
    const { run, place } = this;
    return html`<div class="row" role="row">
      <div class="status" role="cell">
        <svc-status value=${run.stale_since === null ? run.status : 'stale'}></svc-status>
      </div>
      <div class="title" role="cell">
        <a class="name truncate" href=${paths.run(run.id)} title=${run.name}>${run.name}</a>
        <code class="quiet" title=${run.id}>${shortId(run.id)}</code>
        ${run.tags.length > 0 ? this.#renderTags(run.tags) : nothing}
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

  #renderTags(tags: readonly string[]) {
    return html`<span class="tags" title=${tags.join(', ')}
      >${tags.map(
        (tag) =>
          html`<a class="tag above" href=${paths.runs({ ...this.filter, tags: tag })} aria-label="Tag ${tag}"
            >${tag}</a
          >`,
      )}</span
    >`;
  }
}
