import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';
import './svc-copy.js';

/** A phone has room for such a word. */
const WHOLE_LENGTH = 24;
const MAX_LENGTH = 4_000;

/** Text to copy: a command line, a path. Long text wraps; what is longer than 20 lines scrolls. */
@customElement('svc-code')
export class SvcCode extends LitElement {
  @property() text = '';

  static override styles = [
    baseStyles,
    css`
      :host {
        display: flex;
        align-items: flex-start;
        gap: var(--space-1);
        border: 1px solid var(--color-line);
        border-radius: var(--radius-md);
        background: var(--color-sunken);
        min-width: 0;
      }
      code {
        flex: 1;
        min-width: 0;
        /* Half a line more than 20: text that goes on is seen to go on. */
        max-height: calc(20.5lh + 0.375rem);
        overflow-y: auto;
        padding: 0.375rem 0 0.375rem var(--space-3);
        font-size: var(--text-sm);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .whole {
        white-space: nowrap;
      }
      svc-copy {
        margin: 2px;
      }
    `,
  ];

  override render() {
    return html`<code tabindex="0">${keepWhole(this.text)}</code><svc-copy .text=${this.text}></svc-copy>`;
  }
}

/** A line ends between words: a browser would end it after each hyphen of `--name` too. */
function keepWhole(text: string): unknown {
  if (text.length > MAX_LENGTH) return text;
  const isWhole = (part: string) => /^\S/.test(part) && part.length <= WHOLE_LENGTH;
  return text.split(/(\s+)/).map((part) => (isWhole(part) ? html`<span class="whole">${part}</span>` : part));
}
