import { LitElement, css, html } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../components/svc-skeleton.js';
import { baseStyles, panelStyles } from '../styles/shared.js';

const PATIENCE_MS = 1000;

/** While the server has not said who is signed in: the place of a page, and after a second what it waits for. */
@customElement('svc-waiting')
export class SvcWaiting extends LitElement {
  @state() private isLong = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override styles = [
    baseStyles,
    panelStyles,
    css`
      main {
        margin-left: var(--nav-width);
        padding: var(--space-6);
      }
      p {
        min-height: 1lh;
        margin-bottom: var(--space-4);
        color: var(--color-text-2);
      }
      @media (max-width: 56rem) {
        main {
          margin-left: 0;
          padding: var(--space-4);
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#timer = setTimeout(() => (this.isLong = true), PATIENCE_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  override render() {
    return html`<main>
      <p role="status">${this.isLong ? 'Waiting for the server…' : ''}</p>
      <div class="panel"><svc-skeleton rows="8"></svc-skeleton></div>
    </main>`;
  }
}
