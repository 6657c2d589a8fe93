import { consume } from '@lit/context';
import type { EventRecord } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { nameOf } from '../data/record-names.js';
import { formatClock, formatCount, formatDateTime, formatDay, shortId } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { pointOfEvent } from './chart-marks.js';
import { icon, type IconName } from './icons.js';

/** Events as a timeline, newest first, by day. */
@customElement('svc-events-list')
export class SvcEventsList extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) events: readonly EventRecord[] = [];
  /** Left out where the page is about that very job or run. */
  @property({ type: Boolean }) unlinked = false;
  /** Titles and links alone, where there is little room. */
  @property({ type: Boolean }) compact = false;

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        container-type: inline-size;
      }
      h2 {
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
      }
      li {
        display: grid;
        grid-template-columns: 4.25rem 1rem minmax(0, 1fr) auto;
        gap: 0 var(--space-3);
        align-items: start;
        padding: 0.5rem var(--space-4);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-sm);
      }
      li.day {
        display: block;
        padding-block: var(--space-4) var(--space-2);
      }
      li:first-child,
      li.day {
        border-top: 0;
      }
      li > .icon {
        margin-top: 0.15rem;
        color: var(--color-text-3);
      }
      li.warning > .icon {
        color: var(--color-warning);
      }
      li.critical > .icon {
        color: var(--color-danger);
      }
      time,
      .type {
        color: var(--color-text-3);
      }
      .link {
        max-width: 100%;
      }
      .link .kind {
        color: var(--color-text-3);
      }
      .title {
        font-weight: var(--weight-medium);
        overflow-wrap: anywhere;
      }
      .message {
        color: var(--color-text-2);
        white-space: pre-line;
        overflow-wrap: anywhere;
      }
      .more,
      .links {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 var(--space-3);
      }
      .type,
      .links {
        overflow-wrap: anywhere;
      }
      .links a {
        line-height: var(--target-min);
      }
      .type {
        max-width: 16rem;
        font-family: var(--font-mono);
        font-size: 0.6875rem;
        line-height: 1.25rem;
      }
      @container (max-width: 40rem) {
        li {
          grid-template-columns: 1rem minmax(0, 1fr) auto;
        }
        li > .icon {
          grid-row: 1;
          grid-column: 1;
        }
        time {
          grid-row: 1;
          grid-column: 3;
        }
        .type {
          grid-column: 2 / -1;
        }
      }
    `,
  ];

  override render() {
    let day = '';
    return html`<ol aria-label="Events">
      ${repeat(
        this.events,
        (event) => event.id,
        (event) => {
          const ofDay = formatDay(event.created_at);
          const heading =
            ofDay === day ? nothing : html`<li class="day"><h2>${this.#nameDay(ofDay)}</h2></li>`;
          day = ofDay;
          return html`${heading}${this.#renderEvent(event)}`;
        },
      )}
    </ol>`;
  }

  #nameDay(day: string): string {
    return day === formatDay(this.api.now()) ? `Today · ${day}` : day;
  }

  #renderEvent(event: EventRecord) {
    return html`<li class=${event.severity}>
      <time
        datetime=${new Date(event.created_at).toISOString()}
        @pointerenter=${({ target }: PointerEvent) =>
          ((target as HTMLElement).title = formatDateTime(event.created_at))}
      >
        ${formatClock(event.created_at)}
      </time>
      ${icon(event.severity as IconName)}
      <div>
        <p class="title"><span class="visually-hidden">${event.severity}: </span>${event.title}</p>
        <div class="more">
          ${!this.compact && event.message && event.message !== event.title ? html`<p class="message">${event.message}</p>` : nothing}
          ${this.unlinked ? this.#renderPoint(event) : this.#renderLinks(event)}
        </div>
      </div>
      ${this.compact ? nothing : html`<span class="type">${event.type}</span>`}
    </li>`;
  }

  #renderLinks(event: EventRecord) {
    const { job_id: jobId, run_id: runId, node_id: nodeId } = event;
    if (!jobId && !runId && !nodeId) return nothing;
    return html`<p class="links">
      ${jobId ? this.#renderLink('Job', jobId, paths.job(jobId)) : nothing}
      ${runId ? this.#renderLink('Run', runId, paths.run(runId)) : nothing} ${this.#renderPoint(event)}
      ${nodeId ? this.#renderLink('Node', nodeId, paths.node(nodeId)) : nothing}
    </p>`;
  }

  /** To the place in the curve. */
  #renderPoint(event: EventRecord) {
    const { metric = null, step } = pointOfEvent(event) ?? {};
    if (event.run_id === null || metric === null) return nothing;
    return html`<a href=${paths.run(event.run_id, { metric, step: String(step) })}
      >${metric} at step ${formatCount(step!)}</a
    >`;
  }

  /** One that is gone, or has just come, has the end of its id. */
  #renderLink(kind: string, id: string, path: string) {
    return html`<a class="link" href=${path} title=${id}
      ><span class="kind">${kind}</span> ${nameOf(this.api, id) ?? shortId(id)}</a
    >`;
  }
}
