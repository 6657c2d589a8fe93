import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { createToken, type NewToken, type TokenScope } from '../data/tokens.js';
import { formStyles } from '../styles/form-styles.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { isInvalid, renderField } from './form-parts.js';
import { icon } from './icons.js';
import './svc-code.js';
import { SCOPE_WORDS } from './token-words.js';

const DAY_MS = 86_400_000;
const LIFETIMES: readonly { readonly days: number | null; readonly label: string }[] = [
  { days: null, label: 'Never' },
  { days: 1, label: 'In a day' },
  { days: 7, label: 'In a week' },
  { days: 30, label: 'In 30 days' },
  { days: 90, label: 'In 90 days' },
  { days: 365, label: 'In a year' },
];

/** Creates a token and shows it once. Fires `svc-token-created`, and `svc-done` when it is to be closed. */
@customElement('svc-token-form')
export class SvcTokenForm extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @state() private scope: TokenScope = 'read';
  @state() private problem = '';
  @state() private isBusy = false;
  @state() private made: NewToken | null = null;
  @query('#name') private readonly name!: HTMLInputElement | null;
  @query('#lifetime') private readonly lifetime!: HTMLSelectElement;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    panelStyles,
    formStyles,
    css`
      :host {
        margin-bottom: var(--space-4);
      }
      form,
      .made {
        display: grid;
        gap: var(--space-4);
        padding: var(--space-4);
      }
      .row {
        display: grid;
        grid-template-columns: minmax(0, 2fr) minmax(0, 1fr);
        gap: var(--space-4);
      }
      fieldset {
        display: grid;
        gap: var(--space-2);
        margin: 0;
        padding: 0;
        border: 0;
      }
      legend {
        padding: 0 0 var(--space-1);
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      .scopes {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr));
        gap: var(--space-2);
      }
      .scope {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 0 var(--space-2);
        padding: var(--space-3);
        border: 1px solid var(--color-line-strong);
        border-radius: var(--radius-md);
        cursor: pointer;
      }
      .scope:hover {
        background: var(--color-hover);
      }
      .scope:has(:checked) {
        border-color: var(--color-accent);
        background: var(--color-accent-soft);
      }
      .scope:has(:focus-visible) {
        outline: 2px solid var(--color-focus);
        outline-offset: 2px;
      }
      .scope input {
        margin: 0.2rem 0 0;
        accent-color: var(--color-accent);
        outline: none;
      }
      .scope b {
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      .scope span {
        grid-column: 2;
        color: var(--color-text-2);
        font-size: var(--text-xs);
      }
      .buttons {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-2);
      }
      .made h2 {
        overflow-wrap: anywhere;
      }
      .once {
        display: flex;
        gap: var(--space-2);
        color: var(--color-warning);
        font-size: var(--text-sm);
      }
      .once .icon {
        margin-top: 0.2em;
      }
      @media (max-width: 40rem) {
        .row {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];

  override firstUpdated(): void {
    this.name?.focus();
  }

  override render() {
    return html`<section class="panel">
      ${this.made ? this.#renderMade(this.made) : this.#renderForm()}
    </section>`;
  }

  #renderForm() {
    const name = {
      id: 'name',
      label: 'Name',
      hint: 'Who or what uses it, to tell it apart later.',
      errors: this.problem === '' ? [] : [this.problem],
    };
    return html`<form @submit=${this.#onSubmit}>
      <h2>Create a token</h2>
      <div class="row">
        ${renderField(
          name,
          html`<input
            class="input"
            id="name"
            maxlength="200"
            required
            autocomplete="off"
            spellcheck="false"
            aria-describedby="name-hint ${this.problem === '' ? '' : 'name-error'}"
            aria-invalid=${isInvalid(name)}
          />`,
        )}
        ${renderField(
          { id: 'lifetime', label: 'Expires' },
          html`<select class="select" id="lifetime">
            ${LIFETIMES.map(({ days, label }) => html`<option value=${days ?? ''}>${label}</option>`)}
          </select>`,
        )}
      </div>
      <fieldset>
        <legend>Scope</legend>
        <div class="scopes">
          ${Object.keys(SCOPE_WORDS).map((scope) => this.#renderScope(scope as TokenScope))}
        </div>
      </fieldset>
      <div class="buttons">
        <button class="button" type="button" @click=${() => this.#done()}>Cancel</button>
        <button class="button primary" ?disabled=${this.isBusy}>
          ${this.isBusy ? 'Creating…' : 'Create the token'}
        </button>
      </div>
    </form>`;
  }

  #renderScope(scope: TokenScope) {
    return html`<label class="scope"
      ><input
        type="radio"
        name="scope"
        value=${scope}
        .checked=${scope === this.scope}
        @change=${() => (this.scope = scope)}
      /><b>${scope}</b><span>${SCOPE_WORDS[scope]}</span></label
    >`;
  }

  #renderMade({ name, scope, token }: NewToken) {
    return html`<div class="made" role="status">
      <h2>The token “${name}” was created</h2>
      <svc-code .text=${token}></svc-code>
      <p class="once">
        ${icon('warning')}<span>Copy it now: it is not shown again, and the server does not store it.</span>
      </p>
      ${scope === 'agent' ? html`<svc-code .text=${`SVC_TOKEN=<this token> svc agent --url ${window.location.origin}`}></svc-code>` : nothing}
      <div class="buttons">
        <button class="button primary" @click=${() => this.#done()}>I have copied it</button>
      </div>
    </div>`;
  }

  async #onSubmit(event: Event): Promise<void> {
    event.preventDefault();
    const name = this.name!.value.trim();
    if (this.isBusy || name === '') return;
    const days = this.lifetime.value;
    this.isBusy = true;
    this.problem = '';
    try {
      const expiresAt = days === '' ? null : Math.round(this.api.now() + Number(days) * DAY_MS);
      this.made = await createToken(this.api, { name, scope: this.scope, expiresAt });
      this.dispatchEvent(new CustomEvent('svc-token-created'));
      await this.updateComplete;
      this.renderRoot.querySelector<HTMLElement>('.primary')?.focus();
    } catch (error) {
      this.problem = toApiError(error).message;
      this.name!.focus();
    }
    this.isBusy = false;
  }

  #done(): void {
    this.made = null;
    this.dispatchEvent(new CustomEvent('svc-done'));
  }
}
