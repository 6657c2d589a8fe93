import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { HIDDEN_VALUE } from '../data/job-draft.js';
import { plural } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';

/** A job's environment. Values stay covered until asked for, so that a shared screen shows no secret. */
@customElement('svc-env')
export class SvcEnv extends LitElement {
  @property({ attribute: false }) env: Readonly<Record<string, string>> = {};
  @state() private isShown = false;

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      summary {
        width: fit-content;
        color: var(--color-text-2);
        font-size: var(--text-sm);
        cursor: pointer;
      }
      summary:hover {
        color: var(--color-text);
      }
      .show {
        margin-block: var(--space-2);
        --control-height: 1.5rem;
      }
      dl {
        display: grid;
        grid-template-columns: fit-content(45%) minmax(0, 1fr);
        gap: 0 var(--space-4);
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        line-height: 1.4rem;
      }
      dt {
        color: var(--color-text-2);
        overflow-wrap: anywhere;
      }
      dd {
        overflow-wrap: anywhere;
      }
      .button {
        padding: 0 var(--space-2);
        font-size: var(--text-xs);
      }
    `,
  ];

  override render() {
    const entries = Object.entries(this.env).sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return nothing;
    const canShow = entries.some(([, value]) => value !== HIDDEN_VALUE);
    return html`<details>
      <summary>${plural(entries.length, 'environment variable')}</summary>
      <div class="show">
        ${
          canShow
            ? html`<button
                class="button"
                aria-pressed=${this.isShown ? 'true' : 'false'}
                @click=${() => (this.isShown = !this.isShown)}
              >
                ${this.isShown ? 'Hide values' : 'Show values'}
              </button>`
            : html`<span class="quiet">A token with write scope is needed to see the values.</span>`
        }
      </div>
      <dl>
        ${entries.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>
                ${this.isShown && value !== HIDDEN_VALUE ? value : html`<span class="quiet" title="Hidden">•••</span>`}
              </dd>`,
        )}
      </dl>
    </details>`;
  }
}
