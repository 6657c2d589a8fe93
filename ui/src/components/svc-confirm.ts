import { LitElement, css, html } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { baseStyles, controlStyles } from '../styles/shared.js';

/** A question before something that cannot be undone. `ask()` answers true when it was confirmed. */
@customElement('svc-confirm')
export class SvcConfirm extends LitElement {
  @property() headline = '';
  @property() confirm = 'OK';
  @property() dismiss = 'Back';
  @query('dialog') private readonly dialog!: HTMLDialogElement;
  #answer: (isConfirmed: boolean) => void = () => {};

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        display: contents;
      }
      dialog {
        width: min(26rem, calc(100vw - 2rem));
        padding: var(--space-5);
        border: 0;
        border-radius: var(--radius-lg);
        background: var(--color-overlay);
        color: var(--color-text);
        box-shadow: var(--shadow-overlay);
      }
      dialog::backdrop {
        background: var(--color-backdrop);
      }
      h2 {
        font-size: var(--text-lg);
        overflow-wrap: anywhere;
      }
      p {
        margin-top: var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .actions {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-2);
        margin-top: var(--space-5);
      }
    `,
  ];

  async ask(): Promise<boolean> {
    await this.updateComplete;
    this.dialog.returnValue = '';
    this.dialog.showModal();
    return new Promise((resolve) => (this.#answer = resolve));
  }

  override render() {
    return html`<dialog
      aria-labelledby="headline"
      @close=${() => this.#answer(this.dialog.returnValue === 'yes')}
    >
      <form method="dialog">
        <h2 id="headline">${this.headline}</h2>
        <p><slot></slot></p>
        <div class="actions">
          <button class="button" value="">${this.dismiss}</button>
          <button class="button danger" value="yes">${this.confirm}</button>
        </div>
      </form>
    </dialog>`;
  }
}
