import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon, type IconName } from './icons.js';
import './svc-code.js';

/** In place of content: nothing here yet and what to do next, or what went wrong and a way to try again. */
@customElement('svc-notice')
export class SvcNotice extends LitElement {
  @property() headline = '';
  @property({ reflect: true }) tone: 'neutral' | 'danger' = 'neutral';
  @property() icon: IconName | '' = '';
  /** A command to copy, or several, each by itself. */
  @property() command: string | readonly string[] = [];
  /** The label of a button that fires `svc-action`. */
  @property() action = '';

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: grid;
        justify-items: center;
        gap: var(--space-2);
        padding: var(--space-12) var(--space-4);
        text-align: center;
        color: var(--color-text-2);
      }
      .icon {
        margin-bottom: var(--space-1);
        color: var(--color-text-3);
      }
      :host([tone='danger']) .icon {
        color: var(--color-danger);
      }
      h2 {
        color: var(--color-text);
        font-size: var(--text-lg);
      }
      p {
        max-width: 32rem;
        font-size: var(--text-sm);
        overflow-wrap: anywhere;
      }
      svc-code {
        margin-top: var(--space-3);
        max-width: 100%;
        text-align: left;
      }
      .button {
        margin-top: var(--space-3);
      }
    `,
  ];

  override render() {
    return html`
      ${icon(this.icon || (this.tone === 'danger' ? 'warning' : 'info'), 24)}
      <h2>${this.headline}</h2>
      <p><slot></slot></p>
      ${[this.command].flat().map((text) => html`<svc-code .text=${text}></svc-code>`)}
      ${
        this.action === ''
          ? nothing
          : html`<button class="button" @click=${() => this.dispatchEvent(new CustomEvent('svc-action'))}>
              ${this.action}
            </button>`
      }
    `;
  }
}
