import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Breakage } from '../data/breakages.js';
import type { NodeRecord } from '../data/nodes.js';
import { formatCount, shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { panelListStyles } from './panel-list-styles.js';
import './svc-status.js';
import './svc-time.js';

/** Titles of further events of the same job or run. */
const MOST_ALSO = 2;

/** Jobs and runs that failed or were lost, and critical events: what happened, and the way to its explanation. */
@customElement('svc-breakages')
export class SvcBreakages extends LitElement {
  @property({ attribute: false }) breakages: readonly Breakage[] = [];
  @property({ attribute: false }) nodes: readonly NodeRecord[] = [];

  static override styles = [
    baseStyles,
    panelListStyles,
    css`
      :host {
        container-type: inline-size;
      }
      li {
        grid-template-columns: 5.5rem minmax(0, 1fr) auto;
        align-items: start;
      }
      .title {
        font-weight: var(--weight-medium);
        overflow-wrap: anywhere;
      }
      .links {
        display: flex;
        flex-wrap: wrap;
        gap: 0 var(--space-4);
      }
      @container (max-width: 34rem) {
        li {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .text {
          grid-column: 1 / -1;
          grid-row: 2;
        }
      }
    `,
  ];

  override render() {
    return html`<ul aria-label="What broke">
      ${repeat(
        this.breakages,
        ({ event }) => event.id,
        (breakage) => this.#renderBreakage(breakage),
      )}
    </ul>`;
  }

  #renderBreakage({ kind, event, also }: Breakage) {
    const { title, message, created_at: at } = event;
    return html`<li>
      <div><svc-status value=${kind}></svc-status></div>
      <div class="text">
        <p class="title">${title}</p>
        ${message && message !== title ? html`<p class="sub">${message}</p>` : nothing}
        ${also.slice(0, MOST_ALSO).map((other) => html`<p class="sub">${other.title}</p>`)}
        ${also.length > MOST_ALSO ? this.#renderMore(event, also.length - MOST_ALSO) : nothing}
        <p class="links">${this.#renderLinks(kind, event)}</p>
      </div>
      <div class="end"><svc-time .from=${at}></svc-time></div>
    </li>`;
  }

  #renderMore({ job_id, run_id }: Breakage['event'], count: number) {
    const of = job_id === null ? { run_id } : { job_id };
    return html`<p class="sub">
      <a href=${paths.events({ ...of, severity: 'critical' })}>and ${formatCount(count)} more</a>
    </p>`;
  }

  #renderLinks(kind: Breakage['kind'], event: Breakage['event']) {
    const { job_id: jobId, run_id: runId, node_id: nodeId } = event;
    const why = kind === 'FAILED' ? 'Why it failed' : kind === 'LOST' ? 'What is known' : 'What is affected';
    return html`${jobId ? html`<a href=${paths.job(jobId, { attempt: attemptOf(event) })}>${why}</a>` : nothing}
    ${!jobId && runId ? html`<a href=${paths.run(runId, { tab: 'diagnosis' })}>Look at the run</a>` : nothing}
    ${nodeId ? html`<a href=${paths.node(nodeId)} title=${nodeId}>${this.#nameNode(nodeId)}</a>` : nothing}`;
  }

  #nameNode(nodeId: string): string {
    return this.nodes.find(({ id }) => id === nodeId)?.name ?? `Node ${shortId(nodeId)}`;
  }
}

/** The attempt that broke: the job may have begun another one since. null: the event names none. */
function attemptOf({ data }: Breakage['event']): string | null {
  const { attempt } = data as { attempt?: unknown };
  return typeof attempt === 'number' ? String(attempt) : null;
}
