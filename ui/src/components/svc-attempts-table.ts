import type { JobAttempt } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { tableStyles } from '../styles/table-styles.js';
import { explainAttempt } from './job-words.js';
import './svc-status.js';
import './svc-time.js';

/** The attempts of a job, newest first: how each ended, and why. The one whose log is shown is marked; `svc-attempt` asks for another's. */
@customElement('svc-attempts-table')
export class SvcAttemptsTable extends LitElement {
  @property({ attribute: false }) attempts: readonly JobAttempt[] = [];
  /** The attempt whose log is shown. */
  @property({ type: Number }) shown = 0;
  /** Names of nodes by their ids. */
  @property({ attribute: false }) nodeNames: ReadonlyMap<string, string> = new Map();

  static override styles = [
    baseStyles,
    tableStyles,
    css`
      :host {
        --columns: 4rem 7.5rem 4rem 5.5rem 4.5rem minmax(5rem, 9rem) minmax(0, 1fr) 7rem;
        display: block;
        container-type: inline-size;
      }
      .scroll {
        max-height: 18rem;
        overflow-y: auto;
        border-radius: 0 0 var(--radius-lg) var(--radius-lg);
      }
      .head {
        position: sticky;
        top: 0;
        z-index: 1;
        background: var(--color-surface);
      }
      .row.shown {
        background: var(--color-hover);
      }
      .attempt {
        font-weight: var(--weight-medium);
      }
      .node {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .why {
        overflow-wrap: anywhere;
      }
      .links {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-3);
        white-space: nowrap;
      }
      .links a,
      .links button {
        padding: 0;
        border: 0;
        background: none;
        color: var(--color-text);
        font: inherit;
        text-decoration: underline;
        text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
        text-underline-offset: 3px;
        cursor: pointer;
      }
      .links .current {
        color: var(--color-text-3);
      }
      .phone {
        display: none;
      }
      @container (max-width: 50rem) {
        .scroll {
          max-height: none;
        }
        .row {
          grid-template:
            'attempt status' auto
            'started took' auto
            'node exit' auto
            'why why' auto
            'links links' auto / minmax(0, 1fr) auto;
          gap: var(--space-1) var(--space-3);
          padding-block: var(--space-3);
        }
        .attempt {
          grid-area: attempt;
        }
        .status {
          grid-area: status;
          justify-self: end;
        }
        .started {
          grid-area: started;
        }
        .took {
          grid-area: took;
          text-align: right;
        }
        .node {
          grid-area: node;
        }
        .exit {
          grid-area: exit;
          text-align: right;
        }
        .why {
          grid-area: why;
        }
        .links {
          grid-area: links;
          justify-content: flex-start;
          padding-top: var(--space-1);
        }
        .phone {
          display: inline;
        }
        .none {
          display: none;
        }
      }
    `,
  ];

  override render() {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Attempts">
      <div role="table" aria-label="Attempts">
        <div class="head" role="row">
          ${['Attempt', 'Status', 'Exit code', 'Started', 'Duration', 'Node', 'Reason'].map(
            (title) =>
              html`<span role="columnheader" class=${title === 'Exit code' ? 'number' : ''}>${title}</span>`,
          )}
          <span role="columnheader"><span class="visually-hidden">Links</span></span>
        </div>
        ${repeat(
          this.attempts,
          ({ attempt }) => attempt,
          (attempt) => this.#renderAttempt(attempt),
        )}
      </div>
    </div>`;
  }

  #renderAttempt(attempt: JobAttempt) {
    const { attempt: number, status, exit_code: code, started_at: start, finished_at: end } = attempt;
    return html`<div class="row ${number === this.shown ? 'shown' : ''}" role="row">
      <span class="attempt" role="rowheader"><span class="phone">Attempt </span>${number}</span>
      <span class="status" role="cell"><svc-status value=${status}></svc-status></span>
      <span class="exit number ${code === null ? 'none' : ''}" role="cell"
        ><span class="phone">exit code </span>${code ?? '–'}</span
      >
      <span class="started ${start === null ? 'none' : ''}" role="cell"
        ><span class="phone">started </span><svc-time .from=${start}></svc-time
      ></span>
      <span class="took ${start === null ? 'none' : ''}" role="cell"
        ><span class="phone">ran for </span><svc-time elapsed .from=${start} .to=${end}></svc-time
      ></span>
      ${this.#renderNode(attempt)} ${renderReason(attempt)}
      <span class="links" role="cell">${this.#renderLinks(attempt)}</span>
    </div>`;
  }

  #renderNode({ node_id: id }: JobAttempt) {
    const name = id === null ? '–' : (this.nodeNames.get(id) ?? shortId(id));
    return html`<span class="node ${id === null ? 'none' : ''}" role="cell" title=${id ?? nothing}
      >${name}</span
    >`;
  }

  #renderLinks({ attempt, run_id: run }: JobAttempt) {
    const isShown = attempt === this.shown;
    return html`${
      run === null ? nothing : html`<a href=${paths.run(run)} aria-label="Run of attempt ${attempt}">Run</a>`
    }
    ${
      isShown
        ? html`<span class="current" aria-current="true">Log below</span>`
        : html`<button aria-label="Log of attempt ${attempt}" @click=${() => this.#choose(attempt)}>
            Log
          </button>`
    }`;
  }

  #choose(attempt: number): void {
    this.dispatchEvent(new CustomEvent('svc-attempt', { detail: attempt }));
  }
}

function renderReason(attempt: JobAttempt) {
  const reason = explainAttempt(attempt);
  if (reason === null) return html`<span class="why none" role="cell">–</span>`;
  return html`<span class="why" role="cell">${reason}</span>`;
}
