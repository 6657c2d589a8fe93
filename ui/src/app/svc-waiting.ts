import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { renderWaiting, type Crumb } from '../components/page-waiting.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

const PATIENCE_MS = 1000;

/** While the server has not said who is signed in: the place of the page, and after a second what it waits for. */
@customElement('svc-waiting')
export class SvcWaiting extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) above: Crumb | null = null;
  @state() private isLong = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override styles = [
    baseStyles,
    iconStyles,
    pageStyles,
    css`
      /* Where the page will be, beside the navigation that comes with it. A margin at the top would move the body. */
      :host {
        margin-left: var(--nav-width);
      }
      @media (max-width: 56rem) {
        :host {
          margin: 0;
          padding-top: 3rem;
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
    const note = html`<p class="summary" role="status">
      ${this.isLong ? 'Waiting for the server…' : nothing}
    </p>`;
    return html`<main>${renderWaiting(this.heading, this.above, note)}</main>`;
  }
}
