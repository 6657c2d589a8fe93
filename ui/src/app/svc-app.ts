import { provide } from '@lit/context';
import { SCOPES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import '../components/svc-notice.js';
import { toast } from '../components/svc-toasts.js';
import { Api, ApiError, toApiError, unreadable } from '../data/api.js';
import { redeemSignInLink, whoami, type Whoami } from '../data/auth.js';
import { apiContext, feedContext, isAwayContext, whoContext } from '../data/contexts.js';
import { LiveFeed } from '../data/live-feed.js';
import type { StreamState } from '../data/live-stream.js';
import { prepareDates } from '../format.js';
import { PAGES, RUN_TABS } from '../pages/pages.js';
import { Registry, registryContext, type Page } from '../pages/registry.js';
import { leaveGuard } from '../leave-guard.js';
import { navigate } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { consoleActions } from './console-actions.js';
import { Extensions } from './extensions.js';
import { Keys, TypedAhead, findSearch } from './keys.js';
import { createPageContext } from './page-module.js';
import { Router } from './router.js';
import { ServiceWatch } from './service-watch.js';
import { loadToken, storeToken, takeSignInCode } from './session.js';
import './svc-connection-banner.js';
import './svc-nav.js';
import './svc-sign-in.js';
import './svc-waiting.js';

/** How soon a server that did not answer is asked again who is signed in. */
const RETRY_MS = 3000;
/** When the first page is there, what keys open is loaded too. */
const PREPARE_MS = 2000;

type Phase = 'checking' | 'signed-out' | 'signed-in' | 'unreachable';

/** The shell: who is signed in, the live stream, navigation, and the page that the address names. */
@customElement('svc-app')
export class SvcApp extends LitElement {
  #token = loadToken();

  @provide({ context: apiContext })
  readonly api = new Api({ token: () => this.#token, onUnauthorized: (message) => this.#signOut(message) });

  @provide({ context: feedContext })
  readonly feed = new LiveFeed(this.api, (streamState) => this.#onConnection(streamState));

  @provide({ context: registryContext })
  readonly registry = new Registry(PAGES, RUN_TABS);

  @provide({ context: whoContext })
  @state()
  who: Whoami | null = null;

  @provide({ context: isAwayContext })
  @state()
  isAway = false;

  @state() private phase: Phase = 'checking';
  @state() private message = '';
  @state() private connection: StreamState = 'connecting';
  /** Loaded when they are first asked for. */
  @state() private isPaletteThere = false;
  @state() private isHelpThere = false;
  readonly #onHash = (): void => void this.#takeLink();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #preparing: ReturnType<typeof setTimeout> | undefined;
  @query('main') private readonly main!: HTMLElement | null;
  readonly #watch = new ServiceWatch(this.api, this.feed);
  readonly #extensions = new Extensions(this.registry, createPageContext(this.api, this.feed));
  readonly #router = new Router(
    this,
    this.registry,
    () => this.#extensions.load(),
    (isNewPage) => this.#onPage(isNewPage),
  );

  static override styles = [
    baseStyles,
    css`
      :host {
        min-height: 100dvh;
        --covered-bottom: 0px;
      }
      /* What the banner covers of the window: the end of the page stands above it, and so does a log that fills the window. */
      :host([covered]) {
        --covered-bottom: 3.5rem;
      }
      .shell {
        display: grid;
        grid-template-columns: var(--nav-width) minmax(0, 1fr);
        min-height: 100dvh;
      }
      main {
        min-width: 0;
        padding-bottom: var(--covered-bottom);
      }
      main:focus-visible {
        outline: none;
      }
      svc-notice {
        margin: 18vh auto 0;
        max-width: 26rem;
      }
      @media (max-width: 56rem) {
        :host([covered]) {
          --covered-bottom: 4.5rem;
        }
        .shell {
          grid-template-columns: minmax(0, 1fr);
          grid-template-rows: auto 1fr;
        }
        main {
          padding-bottom: calc(3.75rem + env(safe-area-inset-bottom) + var(--covered-bottom));
        }
      }
    `,
  ];

  constructor() {
    super();
    new Keys(this, {
      isOn: () => this.phase === 'signed-in',
      openPalette: () => void this.#openPalette(),
      openHelp: () => void this.#openHelp(),
      focusSearch: () => this.#focusSearch(),
      goTo: (name) => this.#goTo(name),
    });
  }

  /** Who is signed in is asked before the router loads the page: a browser has six connections. */
  override connectedCallback(): void {
    const code = takeSignInCode();
    window.addEventListener('hashchange', this.#onHash);
    void (code === null ? this.#checkToken() : this.#redeem(code));
    super.connectedCallback();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('hashchange', this.#onHash);
    clearTimeout(this.#retry);
    clearTimeout(this.#preparing);
    this.feed.stop();
    this.#watch.stop();
  }

  override render() {
    return html`${this.#renderPhase()}<svc-toasts></svc-toasts>`;
  }

  #renderPhase() {
    if (this.phase === 'checking') return this.#renderWaiting();
    if (this.phase === 'unreachable') return this.#renderUnreachable();
    if (this.phase === 'signed-out') {
      return html`<svc-sign-in
        .message=${this.message}
        .signIn=${(token: string) => this.#signIn(token)}
      ></svc-sign-in>`;
    }
    return html`
      <div class="shell">
        <svc-nav
          .pages=${this.registry.pages}
          .section=${this.#router.section}
          .connection=${this.connection}
          .who=${this.who}
          role="banner"
          @svc-skip=${() => this.main?.focus()}
          @svc-sign-out=${() => this.#signOut('')}
          @svc-palette=${() => void this.#openPalette()}
        ></svc-nav>
        <main id="main" tabindex="-1">${this.#router.render()}</main>
        <svc-connection-banner
          .connection=${this.connection}
          @svc-shown=${({ detail: isShown }: CustomEvent<boolean>) => this.toggleAttribute('covered', isShown)}
        ></svc-connection-banner>
        ${this.isPaletteThere ? html`<svc-palette .api=${this.api} .entries=${this.#actions}></svc-palette>` : nothing}
        ${this.isHelpThere ? html`<svc-key-help .pages=${this.#pages}></svc-key-help>` : nothing}
      </div>
    `;
  }

  #renderWaiting() {
    const { heading, above } = this.#router.place;
    return html`<svc-waiting heading=${heading} .above=${above}></svc-waiting>`;
  }

  get #pages(): readonly Page[] {
    return this.registry.pages.filter(
      ({ navigation }) => navigation && (!navigation.needsWrite || this.who?.can_write),
    );
  }

  get #actions() {
    return consoleActions({
      pages: this.#pages,
      canWrite: this.who?.can_write ?? false,
      showKeys: () => void this.#openHelp(),
      signOut: () => this.#signOut(''),
    });
  }

  async #openPalette(): Promise<void> {
    const typed = new TypedAhead();
    try {
      await import('./svc-palette.js');
      this.isPaletteThere = true;
      // The page may offer other actions by now.
      this.requestUpdate();
      await this.updateComplete;
      const palette = this.renderRoot.querySelector('svc-palette');
      await palette?.updateComplete;
      await palette?.open(typed.text);
    } finally {
      typed.stop();
    }
  }

  async #openHelp(): Promise<void> {
    await import('./svc-key-help.js');
    this.isHelpThere = true;
    await this.updateComplete;
    await this.renderRoot.querySelector('svc-key-help')?.open();
  }

  /** A page without a search of its own is searched with everything else. */
  #focusSearch(): void {
    const search = this.main && findSearch(this.main);
    if (search) search.focus();
    else void this.#openPalette();
  }

  #goTo(name: string): void {
    const page = this.#pages.find((each) => each.name === name);
    if (page) navigate(page.path);
  }

  #renderUnreachable() {
    return html`<svc-notice
      tone="danger"
      headline="The server does not answer"
      action="Try again"
      @svc-action=${() => void this.#checkToken()}
      >${this.message}</svc-notice
    >`;
  }

  /** A sign-in link that is opened in this tab loads no new document. */
  async #takeLink(): Promise<void> {
    const code = takeSignInCode();
    if (code === null || !(await leaveGuard.mayLeave())) return;
    this.#signOut('');
    this.phase = 'checking';
    await this.#redeem(code);
  }

  async #redeem(code: string): Promise<void> {
    storeToken((this.#token = null));
    try {
      await this.#signIn(await redeemSignInLink(this.api, code));
    } catch (error) {
      this.#signOut(describeRedeem(toApiError(error)));
    }
  }

  async #checkToken(): Promise<void> {
    if (this.#token === null) return this.#signOut('');
    try {
      await this.#signIn(this.#token);
    } catch (error) {
      this.#onSignInError(toApiError(error));
    }
  }

  /** Keeps the token only once the server has accepted it; throws its refusal. */
  async #signIn(token: string): Promise<void> {
    this.#token = token;
    const who = await whoami(this.api);
    if (token !== this.#token) return;
    if (!SCOPES.includes(who.scope)) throw unreadable();
    if (who.scope !== 'read' && who.scope !== 'write') throw this.#refuseScope(who);
    const problem = await this.#extensions.load();
    if (problem !== null) toast(problem, { isError: true });
    storeToken(token);
    this.who = who;
    this.message = '';
    this.phase = 'signed-in';
    this.feed.start();
    this.#watch.start();
    // While the server answers what the page has asked.
    setTimeout(prepareDates);
    this.#preparing = setTimeout(() => void prepareDialogs(), PREPARE_MS);
  }

  #refuseScope({ name, scope }: Whoami): ApiError {
    this.#token = null;
    const message = `The token "${name}" has the scope ${scope}; the console needs read or write.`;
    return new ApiError({ code: 'forbidden', message, status: 403 });
  }

  #onSignInError(error: ApiError): void {
    if (error.status === 401) return;
    if (error.status === 403) return this.#signOut(error.message);
    this.message = error.message;
    this.phase = 'unreachable';
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#checkToken(), RETRY_MS);
  }

  /** The address stays, so that signing in again comes back to the same page. */
  #signOut(message: string): void {
    clearTimeout(this.#retry);
    this.feed.stop();
    this.#watch.stop();
    this.isPaletteThere = this.isHelpThere = false;
    storeToken((this.#token = null));
    this.who = null;
    this.message = message;
    this.phase = 'signed-out';
  }

  /** A stream that connects again is still away. */
  #onConnection(connection: StreamState): void {
    this.connection = connection;
    if (connection !== 'connecting') this.isAway = connection === 'waiting';
  }

  #onPage(isNewPage: boolean): void {
    if (!isNewPage || this.phase !== 'signed-in') return;
    window.scrollTo(0, 0);
    this.main?.focus({ preventScroll: true });
  }
}

/** What fails now is loaded when it is asked for. */
async function prepareDialogs(): Promise<void> {
  await Promise.allSettled([import('./svc-palette.js'), import('./svc-key-help.js')]);
}

function describeRedeem(error: ApiError): string {
  if (!error.isFinal) return error.message;
  return 'This sign-in link was already used or has expired. svc console prints a new one; or sign in with a token.';
}
