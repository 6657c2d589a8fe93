import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon } from '../components/icons.js';
import { ask } from '../components/svc-confirm.js';
import '../components/svc-filters.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-time.js';
import { toast } from '../components/svc-toasts.js';
import '../components/svc-token-form.js';
import { INGEST_WORDS, SCOPE_WORDS } from '../components/token-words.js';
import { Loader } from '../controllers/loader.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { MOST_TOKENS, isValid, listTokens, revokeToken, type TokenRecord } from '../data/tokens.js';
import { formatDateTime, isolated } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';

/** Who may use the service: tokens without their secrets, a form for another one, and a way to revoke each. */
@customElement('svc-tokens-page')
export class SvcTokensPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) query = new URLSearchParams();
  readonly #tokens = new Loader(this, {
    load: (signal) => (this.who?.can_write ? listTokens(this.api, signal) : Promise.resolve([])),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    dataTableStyles,
    css`
      :host {
        max-width: 76rem;
      }
      th,
      td {
        padding: var(--space-2) var(--space-3);
        vertical-align: middle;
      }
      th:first-child,
      td:first-child {
        padding-left: var(--space-4);
      }
      td,
      tbody th {
        height: 2.75rem;
      }
      tbody th {
        max-width: 22rem;
        overflow-wrap: anywhere;
      }
      td {
        color: var(--color-text-2);
        white-space: nowrap;
      }
      td:last-child {
        text-align: right;
      }
      tr > :last-child {
        padding-right: var(--space-4);
      }
      .over th {
        color: var(--color-text-2);
        font-weight: var(--weight-normal);
      }
      .scroll {
        border-radius: inherit;
      }
      td .button {
        --control-height: 1.75rem;
      }
      .scopes {
        margin-top: var(--space-6);
        padding: var(--space-4);
      }
      .scopes dl {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: var(--space-2) var(--space-4);
        margin-top: var(--space-3);
        font-size: var(--text-sm);
      }
      .scopes dd,
      .scopes p {
        color: var(--color-text-2);
      }
      .scopes p {
        margin-top: var(--space-3);
        font-size: var(--text-sm);
      }
      .cut {
        padding: var(--space-3) var(--space-4);
        border-top: 1px solid var(--color-line);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      @media (max-width: 56rem) {
        thead {
          display: none;
        }
        tbody tr {
          display: grid;
          grid-template-columns: minmax(0, 1fr) auto;
          padding: var(--space-2) var(--space-4);
        }
        tbody tr + tr {
          border-top: 1px solid var(--color-line);
        }
        tbody tr > * {
          height: auto;
          padding: 0 !important;
          border: 0 !important;
        }
        tbody th,
        tbody td:not(:last-child) {
          grid-column: 1;
        }
        tbody td:last-child {
          grid-column: 2;
          grid-row: 1 / span 5;
          align-self: center;
        }
        td[data-label]::before {
          content: attr(data-label) ' ';
          color: var(--color-text-3);
        }
        td .button {
          --control-height: 2.5rem;
        }
      }
    `,
  ];

  override render() {
    return html`<header class="page-head">
        <h1>Tokens</h1>
        ${this.who?.can_write && !this.#isCreating ? this.#renderCreate() : nothing}
      </header>
      ${this.who?.can_write ? this.#renderPage() : this.#renderReadOnly()}`;
  }

  get #isCreating(): boolean {
    return this.query.has('new');
  }

  get #isAll(): boolean {
    return this.query.get('show') === 'all';
  }

  #renderCreate() {
    return html`<div class="actions">
      <button class="button primary" @click=${() => this.#go({ new: '1' })}>
        ${icon('plus', 14)}Create a token
      </button>
    </div>`;
  }

  #renderReadOnly() {
    return html`<div class="panel">
      <svc-notice icon="tokens" headline="This token can only read"
        >To see, create or revoke tokens, sign in with a token of write scope.</svc-notice
      >
    </div>`;
  }

  #renderPage() {
    return html`
      ${
        this.#isCreating
          ? html`<svc-token-form
              @svc-token-created=${() => this.#tokens.reload()}
              @svc-done=${() => void this.#close()}
            ></svc-token-form>`
          : nothing
      }
      <svc-filters
        label="Which tokens are shown"
        .choices=${this.#choices}
        .value=${this.#isAll ? 'all' : null}
        @svc-filter=${({ detail: show }: CustomEvent<string | null>) => this.#go({ show })}
      ></svc-filters>
      <svc-stale
        .error=${this.#tokens.value ? this.#tokens.error : null}
        @svc-retry=${() => this.#tokens.reload()}
      ></svc-stale>
      <section class="panel">${this.#renderTokens()}</section>
      ${renderScopes()}
    `;
  }

  get #choices() {
    const tokens = this.#tokens.value;
    const valid = tokens?.filter((token) => isValid(token, this.api.now()));
    return [
      { value: null, label: 'In use', count: valid?.length },
      { value: 'all', label: 'All', count: tokens?.length },
    ];
  }

  #renderTokens() {
    const tokens = this.#tokens.value;
    if (!tokens)
      return this.#tokens.error ? this.#renderFailure() : html`<svc-skeleton rows="4"></svc-skeleton>`;
    const shown = this.#isAll ? tokens : tokens.filter((token) => isValid(token, this.api.now()));
    if (shown.length === 0)
      return html`<svc-notice icon="tokens" headline="No tokens"
        >Create one for each person, script and host.</svc-notice
      >`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Tokens">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Scope</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col"><span class="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            shown,
            ({ id }) => id,
            (token) => this.#renderToken(token),
          )}
        </tbody>
      </table>
      ${tokens.length < MOST_TOKENS ? nothing : html`<p class="cut">These are the newest ${MOST_TOKENS}; <code>svc token list</code> shows all.</p>`}
    </div>`;
  }

  #renderToken(token: TokenRecord) {
    const { name, scope, created_at: createdAt, last_used_at: usedAt, revoked_at: revokedAt } = token;
    const isOver = !isValid(token, this.api.now());
    return html`<tr class=${isOver ? 'over' : ''}>
      <th scope="row"><bdi>${name}</bdi></th>
      <td data-label="Scope" title=${SCOPE_WORDS[scope]}>${scope}</td>
      <td data-label="Created"><svc-time .from=${createdAt}></svc-time></td>
      <td data-label="Last used">
        ${usedAt === null ? 'Never' : html`<svc-time .from=${usedAt}></svc-time>`}
      </td>
      <td data-label=${revokedAt === null ? 'Expires' : 'Revoked'}>${this.#renderEnd(token)}</td>
      <td>
        ${
          isOver
            ? nothing
            : html`<button
                class="button"
                data-token=${token.id}
                aria-label="Revoke ${name}"
                @click=${() => void this.#revoke(token)}
              >
                Revoke
              </button>`
        }
      </td>
    </tr>`;
  }

  #renderEnd({ revoked_at: revokedAt, expires_at: expiresAt }: TokenRecord) {
    if (revokedAt !== null) return html`Revoked <svc-time .from=${revokedAt}></svc-time>`;
    if (expiresAt === null) return 'Never';
    if (expiresAt <= this.api.now()) return html`Expired <svc-time .from=${expiresAt}></svc-time>`;
    return html`<time datetime=${new Date(expiresAt).toISOString()}>${formatDateTime(expiresAt)}</time>`;
  }

  #renderFailure() {
    return html`<svc-notice
      tone="danger"
      headline="The tokens could not be loaded"
      action="Try again"
      @svc-action=${() => this.#tokens.reload()}
      >${this.#tokens.error?.message}</svc-notice
    >`;
  }

  async #revoke({ id, name, scope }: TokenRecord): Promise<void> {
    const own = name === this.who?.name ? ' It has the name of the token you are signed in with.' : '';
    const agent = scope === 'agent' ? ' The host that uses it loses its connection; its jobs go on.' : '';
    const isConfirmed = await ask({
      headline: `Revoke ${isolated(name)}?`,
      text: `Whoever uses it is refused at once, and it cannot be made valid again.${agent}${own}`,
      confirm: 'Revoke the token',
      dismiss: 'Keep it',
    });
    if (!isConfirmed) return;
    try {
      const revoked = await revokeToken(this.api, id);
      toast(`The token ${name} was revoked.`);
      await this.#show(revoked);
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
      this.#tokens.reload();
    }
  }

  /** Its row may be gone then, and its button is: the focus goes to what stands there now. */
  async #show(revoked: TokenRecord): Promise<void> {
    const buttons = () => [
      ...this.renderRoot.querySelectorAll<HTMLElement>('td .button, .page-head .button'),
    ];
    const at = buttons().findIndex((button) => button.dataset['token'] === revoked.id);
    this.#tokens.value = this.#tokens.value?.map((token) => (token.id === revoked.id ? revoked : token));
    this.requestUpdate();
    await this.updateComplete;
    (buttons()[at] ?? buttons().at(-1))?.focus();
  }

  async #close(): Promise<void> {
    this.#go({ new: null });
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.page-head .button')?.focus();
  }

  #go(changes: Record<string, string | null>): void {
    navigate(paths.tokens({ show: this.query.get('show'), new: this.query.get('new'), ...changes }));
  }
}

function renderScopes() {
  return html`<section class="panel scopes">
    <h2>What each scope may do</h2>
    <dl>
      ${Object.entries(SCOPE_WORDS).map(
        ([scope, words]) =>
          html`<dt>${scope}</dt>
            <dd>${words}</dd>`,
      )}
    </dl>
    <p>${INGEST_WORDS}</p>
  </section>`;
}
