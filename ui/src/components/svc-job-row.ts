import type { Job } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { rowStyles } from '../styles/table-styles.js';
import { describeNode, describeOutcome, describeResources } from './job-words.js';
import './svc-job-actions.js';
import './svc-status.js';
import './svc-time.js';

/** A job in a list: one line, and a second one that says why it waits or failed. */
@customElement('svc-job-row')
export class SvcJobRow extends LitElement {
  @property({ attribute: false }) job!: Job;
  @property({ attribute: false }) node = '';
  /** Its project and experiment, as `describePlace` says it. */
  @property({ attribute: false }) place = '';

  static override styles = [
    baseStyles,
    rowStyles,
    css`
      .title {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
      }
      .reason {
        grid-column: 2 / -1;
        padding-top: 1px;
        color: var(--color-text-2);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      .reason.bad {
        color: var(--color-danger);
      }
      .actions {
        justify-self: end;
        width: max-content;
        margin-block: -0.25rem;
      }
      @media (hover: hover) {
        .row:not(:hover):not(:focus-within) .actions {
          opacity: 0;
        }
      }
      @container (max-width: 50rem) {
        .row {
          grid-template:
            'name status' auto
            'reason reason' auto
            'place place' auto
            'facts actions' auto / minmax(0, 1fr) auto;
          gap: 0.25rem var(--space-2);
          padding: var(--space-3) var(--space-4);
        }
        .title {
          grid-area: name;
          font-size: var(--text-md);
        }
        .name {
          display: -webkit-box;
          -webkit-box-orient: vertical;
          -webkit-line-clamp: 3;
          overflow-wrap: anywhere;
          white-space: normal;
        }
        .title,
        .status {
          align-self: baseline;
        }
        .status {
          grid-area: status;
        }
        .reason {
          grid-area: reason;
        }
        .place {
          grid-area: place;
        }
        .facts {
          grid-area: facts;
          display: flex;
          flex-wrap: wrap;
          gap: 0 var(--space-3);
          color: var(--color-text-3);
          font-size: var(--text-xs);
        }
        .actions {
          grid-area: actions;
        }
        .wide,
        .place.none {
          display: none;
        }
      }
      @container (min-width: 50.01rem) {
        .facts {
          display: contents;
        }
        .reason,
        .actions {
          margin-right: calc(var(--space-4) - var(--row-end, var(--space-4)));
        }
        /* They lie over the end of the row. */
        .actions {
          border-radius: var(--radius-md);
          background: var(--color-surface);
        }
      }
    `,
  ];

  override render() {
    const { job, place } = this;
    const reason = describeOutcome(job);
    const where = this.node && describeNode(this.node, job);
    return html`<div class="row" role="row">
      <div class="status" role="cell"><svc-status value=${job.status}></svc-status></div>
      <div class="title" role="cell">
        <a class="name truncate" href=${paths.job(job.id)} title=${job.name}>${job.name}</a>
        <code class="quiet" title=${job.id}>${shortId(job.id)}</code>
      </div>
      <div class="place truncate quiet ${place === '–' ? 'none' : ''}" role="cell" title=${place}>
        ${place}
      </div>
      <div class="facts" role="presentation">
        <div class="truncate" role="cell">
          ${describeResources(job)}${job.priority === 0 ? nothing : html`<span class="quiet"> · priority ${job.priority}</span>`}
        </div>
        <div class="truncate quiet ${where ? '' : 'wide'}" role="cell" title=${where}>${where || '–'}</div>
        <div class="number quiet" role="cell"><svc-time .from=${job.created_at}></svc-time></div>
        <div class="number ${job.started_at === null ? 'wide' : ''}" role="cell">
          <svc-time elapsed .from=${job.started_at} .to=${job.finished_at}></svc-time>
        </div>
      </div>
      <div class="actions above" role="cell"><svc-job-actions compact .job=${job}></svc-job-actions></div>
      ${
        reason === null
          ? nothing
          : html`<div class="reason ${job.status === 'FAILED' ? 'bad' : ''}" role="cell">${reason}</div>`
      }
    </div>`;
  }
}
