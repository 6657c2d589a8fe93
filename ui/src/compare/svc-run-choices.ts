import type { Run } from '@svc/contract';
import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../components/svc-status.js';
import '../components/svc-time.js';
import { shortId } from '../format.js';
import { baseStyles } from '../styles/shared.js';

/** Runs with a check box each. Fires `svc-toggle` with the id of a run. */
@customElement('svc-run-choices')
export class SvcRunChoices extends LitElement {
  @property({ attribute: false }) runs: readonly Run[] = [];
  @property({ attribute: false }) chosen: ReadonlySet<string> = new Set();
  /** Ids of those that cannot be chosen again. */
  @property({ attribute: false }) taken: readonly string[] = [];
  /** So many can be chosen. */
  @property({ type: Number }) most = Infinity;

  static override styles = [
    baseStyles,
    css`
      ul {
        margin: 0;
        padding: 0;
        list-style: none;
      }
      label {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr) auto 7rem 5rem;
        align-items: center;
        gap: var(--space-3);
        min-height: 2.5rem;
        padding: 0 var(--space-4);
        font-size: var(--text-sm);
        cursor: pointer;
      }
      li + li label {
        border-top: 1px solid var(--color-line);
      }
      label:hover {
        background: var(--color-hover);
      }
      label:has(:disabled) {
        color: var(--color-text-3);
        cursor: default;
      }
      input[type='checkbox'] {
        flex: none;
        width: 1rem;
        height: 1rem;
        accent-color: var(--color-accent);
      }
      .name {
        font-weight: var(--weight-medium);
      }
      .age {
        text-align: right;
        font-variant-numeric: tabular-nums;
      }
      @media (max-width: 40rem) {
        label {
          grid-template-columns: auto auto auto 1fr;
          gap: var(--space-1) var(--space-3);
          padding: var(--space-2) var(--space-4);
        }
        .name {
          grid-column: 2 / -1;
          overflow-wrap: anywhere;
          white-space: normal;
        }
        code {
          grid-column: 2;
        }
      }
    `,
  ];

  override render() {
    return html`<ul role="list">
      ${repeat(
        this.runs,
        ({ id }) => id,
        (run) => this.#renderRun(run),
      )}
    </ul>`;
  }

  #renderRun({ id, name, status, created_at: createdAt }: Run) {
    const isTaken = this.taken.includes(id);
    const isChosen = isTaken || this.chosen.has(id);
    return html`<li>
      <label>
        <input
          type="checkbox"
          .checked=${isChosen}
          ?disabled=${isTaken || (!isChosen && this.chosen.size >= this.most)}
          @change=${() => this.dispatchEvent(new CustomEvent('svc-toggle', { detail: id }))}
        />
        <span class="name truncate" title=${name}><bdi>${name}</bdi></span>
        <code class="quiet" title=${id}>${shortId(id)}</code>
        <svc-status value=${status}></svc-status>
        <span class="age quiet"><svc-time .from=${createdAt}></svc-time></span>
      </label>
    </li>`;
  }
}
