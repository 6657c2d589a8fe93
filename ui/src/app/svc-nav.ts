import { LitElement, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { icon, type IconName } from '../components/icons.js';
import type { Whoami } from '../data/auth.js';
import type { StreamState } from '../data/live-stream.js';
import type { Page, PageEntry } from '../pages/registry.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { currentTheme, onThemeChange, setTheme, type Theme } from '../styles/theme.js';
import { brandMark } from './brand.js';
import { PALETTE_KEY } from './keys.js';
import { navStyles } from './nav-styles.js';

type Entry = Page & { readonly navigation: PageEntry };

/** A phone has room for so few; the others are behind a button. */
const QUICK: ReadonlySet<string> = new Set(['overview', 'jobs', 'runs', 'nodes']);

const THEMES: readonly { theme: Theme; label: string; icon: IconName }[] = [
  { theme: 'auto', label: 'System theme', icon: 'theme' },
  { theme: 'light', label: 'Light theme', icon: 'sun' },
  { theme: 'dark', label: 'Dark theme', icon: 'moon' },
];

const CONNECTIONS: Readonly<Record<StreamState, { label: string; hint: string; tone: string }>> = {
  live: { label: 'Live', hint: 'Changes appear immediately', tone: 'good' },
  connecting: { label: 'Connecting', hint: 'Opening the live stream', tone: 'wait' },
  waiting: { label: 'Reconnecting', hint: 'The live stream was interrupted; reconnecting', tone: 'bad' },
  paused: { label: 'Paused', hint: 'The live stream is paused while the tab is hidden', tone: 'wait' },
  ended: { label: 'Closed', hint: 'The server ended the live stream', tone: 'bad' },
  failed: {
    label: 'Not live',
    hint: 'The server refused the live stream; pages refresh every few seconds',
    tone: 'bad',
  },
};

/** Navigation, connection, who is signed in, and the theme: a side bar on a desk, a top and a bottom bar on a phone. */
@customElement('svc-nav')
export class SvcNav extends LitElement {
  @property({ attribute: false }) pages: readonly Page[] = [];
  /** The name of the page whose entry is the current one. */
  @property({ attribute: false }) section: string | null = null;
  @property({ attribute: false }) connection: StreamState = 'connecting';
  @property({ attribute: false }) who: Whoami | null = null;
  @state() private theme = currentTheme();
  /** On a phone: all entries are shown. */
  @state() private isOpen = false;
  #unfollow = (): void => {};

  static override styles = [baseStyles, controlStyles, iconStyles, navStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unfollow = onThemeChange(this.#followTheme);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unfollow();
  }

  override render() {
    return html`
      <button class="skip button primary" @click=${() => this.#fire('svc-skip')}>Skip to content</button>
      <a class="brand" href=${paths.overview()} aria-label="svc, to the overview"
        >${brandMark(24)}<span>svc</span></a
      >
      <button
        class="find"
        title="Search and commands (${PALETTE_KEY})"
        @click=${() => this.#fire('svc-palette')}
      >
        ${icon('search', 14)}<span>Search</span><kbd>${PALETTE_KEY}</kbd>
      </button>
      <nav
        aria-label="Main"
        class=${this.isOpen ? 'open' : ''}
        @keydown=${this.#onKey}
        @focusout=${this.#onBlur}
      >
        <ul>
          ${repeat(
            this.#entries,
            ({ name }) => name,
            (page) => this.#renderEntry(page),
          )}
        </ul>
        <button
          class="more ${this.#entries.some(({ name }) => name === this.section && !QUICK.has(name)) ? 'current' : ''}"
          aria-expanded=${this.isOpen ? 'true' : 'false'}
          @click=${() => (this.isOpen = !this.isOpen)}
        >
          ${icon('more')}<span>More</span>
        </button>
      </nav>
      <div class="foot">${this.#renderConnection()} ${this.#renderThemes()} ${this.#renderWho()}</div>
    `;
  }

  /** As they are shown: those that come last behind those of plugins. */
  get #entries(): Entry[] {
    const entries = this.pages.filter((page): page is Entry => page.navigation !== undefined);
    const allowed = entries.filter(({ navigation }) => !navigation.needsWrite || this.who?.can_write);
    const isLast = ({ navigation }: Entry) => navigation.isLast === true;
    return [...allowed.filter((entry) => !isLast(entry)), ...allowed.filter(isLast)];
  }

  #renderEntry({ name, path, navigation }: Entry) {
    return html`<li class="${QUICK.has(name) ? 'quick' : ''} ${navigation.isLast ? 'last' : ''}">
      <a
        href=${path}
        aria-current=${name === this.section ? 'page' : 'false'}
        @click=${() => (this.isOpen = false)}
        >${icon(navigation.icon)}<span class="truncate">${navigation.label}</span></a
      >
    </li>`;
  }

  #renderConnection() {
    const { label, hint, tone } = CONNECTIONS[this.connection];
    return html`<p class="connection ${tone}" role="status" title=${hint}>
      ${icon(this.connection === 'live' ? 'live' : tone === 'bad' ? 'away' : 'queued')}<span>${label}</span>
    </p>`;
  }

  #renderThemes() {
    return html`<div class="themes segmented" role="group" aria-label="Theme">
      ${THEMES.map(
        ({ theme, label, icon: name }) =>
          html`<button
            aria-pressed=${theme === this.theme ? 'true' : 'false'}
            aria-label=${label}
            title=${label}
            @click=${() => setTheme(theme)}
          >
            ${icon(name, 14)}
          </button>`,
      )}
    </div>`;
  }

  #renderWho() {
    if (!this.who) return null;
    return html`<div class="who">
      <p>
        <span class="truncate" title="Token ${this.who.name}">${this.who.name}</span>
        <span class="scope">${this.who.can_write ? 'Can read and write' : 'Can only read'}</span>
      </p>
      <button
        class="button plain icon"
        aria-label="Sign out"
        title="Sign out"
        @click=${() => this.#fire('svc-sign-out')}
      >
        ${icon('signOut')}
      </button>
    </div>`;
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !this.isOpen) return;
    this.isOpen = false;
    this.renderRoot.querySelector<HTMLElement>('.more')?.focus();
  };

  readonly #onBlur = ({ relatedTarget, currentTarget }: FocusEvent): void => {
    if (!(currentTarget as Node).contains(relatedTarget as Node | null)) this.isOpen = false;
  };

  readonly #followTheme = (): void => {
    this.theme = currentTheme();
  };

  #fire(name: 'svc-skip' | 'svc-sign-out' | 'svc-palette'): void {
    this.dispatchEvent(new CustomEvent(name));
  }
}
