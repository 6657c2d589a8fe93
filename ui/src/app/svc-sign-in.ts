import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import { toApiError } from '../data/api.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { brandMark } from './brand.js';

/** Asks for a token. `signIn` throws the server's refusal. */
@customElement('svc-sign-in')
export class SvcSignIn extends LitElement {
  @property() message = '';
  @property({ attribute: false }) signIn: (token: string) => Promise<void> = async () => {};
  @state() private refusal = '';
  @state() private isBusy = false;
  @state() private isShown = false;
  @query('input') private readonly input!: HTMLInputElement;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: grid;
        align-content: center;
        justify-items: center;
        min-height: 100dvh;
        padding: var(--space-4);
      }
      main {
        width: min(24rem, 100%);
      }
      .brand {
        display: flex;
        align-items: center;
        gap: var(--space-3);
        margin-bottom: var(--space-6);
      }
      form {
        display: grid;
        gap: var(--space-3);
        margin-top: var(--space-5);
      }
      label {
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      .field {
        position: relative;
        display: grid;
      }
      .field .input {
        height: 2.5rem;
        padding-right: 2.75rem;
        font-family: var(--font-mono);
      }
      .field .button {
        position: absolute;
        right: 4px;
        top: calc(50% - 1rem);
        --control-height: 2rem;
      }
      .primary {
        height: 2.5rem;
      }
      .message {
        display: flex;
        gap: var(--space-2);
        padding: var(--space-3);
        border-radius: var(--radius-md);
        background: var(--color-warning-soft);
        color: var(--color-warning);
        font-size: var(--text-sm);
      }
      .message .icon {
        margin-top: 0.2em;
      }
      .refusal {
        background: var(--color-danger-soft);
        color: var(--color-danger);
      }
      .hint {
        margin-top: var(--space-6);
        padding-top: var(--space-4);
        border-top: 1px solid var(--color-line);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .hint code {
        color: var(--color-text);
      }
    `,
  ];

  override firstUpdated(): void {
    this.input.focus();
  }

  override render() {
    return html`<main>
      <div class="brand">
        ${brandMark(36)}
        <h1>Sign in to svc</h1>
      </div>
      ${this.#renderMessage()}
      <form @submit=${this.#onSubmit}>
        <label for="token">Token</label>
        <div class="field">
          <input
            id="token"
            class="input"
            name="token"
            type=${this.isShown ? 'text' : 'password'}
            placeholder="svc_write_…"
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            required
          />
          <button
            class="button plain icon"
            type="button"
            aria-pressed=${this.isShown ? 'true' : 'false'}
            aria-label="Show the token"
            title="Show the token"
            @click=${() => (this.isShown = !this.isShown)}
          >
            ${icon('eye')}
          </button>
        </div>
        <button class="button primary" ?disabled=${this.isBusy}>
          ${this.isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p class="hint">
        <code>svc console</code> prints a link that signs you in. The server made a first token at its first
        start: it is in the file <code>token</code> of its data directory, which is <code>~/.svc</code> unless
        it was given another. On the host of the server,
        <code>svc token create --name me --scope read</code> makes one more. The console keeps the token in
        this tab only.
      </p>
    </main>`;
  }

  #renderMessage() {
    if (this.refusal !== '')
      return html`<p class="message refusal" role="alert">${icon('critical')}${this.refusal}</p>`;
    if (this.message !== '') return html`<p class="message" role="status">${icon('info')}${this.message}</p>`;
    return nothing;
  }

  async #onSubmit(event: Event): Promise<void> {
    event.preventDefault();
    const token = this.input.value.trim();
    if (token === '' || this.isBusy) return;
    this.isBusy = true;
    this.refusal = '';
    try {
      await this.signIn(token);
    } catch (error) {
      this.refusal = toApiError(error).message;
      this.input.select();
    } finally {
      this.isBusy = false;
    }
  }
}
