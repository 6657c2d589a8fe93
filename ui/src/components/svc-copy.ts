import { LitElement, css, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

const THANKS_MS = 1500;

/** A button that copies text. */
@customElement('svc-copy')
export class SvcCopy extends LitElement {
  @property({ attribute: false }) text = '';
  @property() label = 'Copy';
  @state() private isCopied = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: inline-flex;
        --control-height: 1.75rem;
      }
      .copied {
        color: var(--color-success);
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  override render() {
    const label = this.isCopied ? 'Copied' : this.label;
    return html`<button
      class="button plain icon ${this.isCopied ? 'copied' : ''}"
      aria-label=${label}
      title=${label}
      @click=${this.#onClick}
    >
      ${icon(this.isCopied ? 'check' : 'copy', 14)}
    </button>`;
  }

  async #onClick(): Promise<void> {
    await copyText(this.text);
    this.isCopied = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.isCopied = false), THANKS_MS);
  }
}

/** The clipboard needs a secure context; over plain HTTP from another host only the old way is left. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
