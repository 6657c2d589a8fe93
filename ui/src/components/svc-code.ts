import { LitElement, css, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';
import './svc-copy.js';

/** Text to copy: a command line, a path. Long text wraps, it is never cut. */
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
        max-height: 9rem;
        overflow-y: auto;
        padding: 0.375rem 0 0.375rem var(--space-3);
        font-size: var(--text-sm);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      svc-copy {
        margin: 2px;
      }
    `,
  ];

  override render() {
    return html`<code tabindex="0">${this.text}</code><svc-copy .text=${this.text}></svc-copy>`;
  }
}
