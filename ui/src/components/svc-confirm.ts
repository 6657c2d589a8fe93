import { LitElement, css, html } from 'lit';
import { customElement, property, query } from 'lit/decorators.js';
import { baseStyles, controlStyles } from '../styles/shared.js';

export interface Question {
  readonly headline: string;
  readonly text: string;
  /** The labels of the buttons that go on, and that leave everything as it is. */
  readonly confirm: string;
  readonly dismiss: string;
  /** `danger`: something ends or is lost by it. */
  readonly tone?: 'danger' | 'primary';
}

/** Asks before something is done; true when it was confirmed. The focus goes back to where it was. */
export async function ask(question: Question): Promise<boolean> {
  const dialog = document.createElement('svc-confirm');
  Object.assign(dialog, question);
  document.body.append(dialog);
  const isConfirmed = await dialog.ask();
  dialog.remove();
  return isConfirmed;
}

/** The dialog of `ask`. */
@customElement('svc-confirm')
export class SvcConfirm extends LitElement {
  @property() headline = '';
  @property() text = '';
  @property() confirm = 'OK';
  @property() dismiss = 'Back';
  @property() tone: 'danger' | 'primary' = 'danger';
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
        <p>${this.text}</p>
        <div class="actions">
          <button class="button" value="">${this.dismiss}</button>
          <button class="button ${this.tone}" value="yes">${this.confirm}</button>
        </div>
      </form>
    </dialog>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-confirm': SvcConfirm;
  }
}
