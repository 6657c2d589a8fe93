import { LitElement, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { icon, type IconName } from '../components/icons.js';
import type { Whoami } from '../data/auth.js';
import type { StreamState } from '../data/live-stream.js';
import type { Page } from '../pages/registry.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { currentTheme, setTheme, type Theme } from '../styles/theme.js';
import { brandMark } from './brand.js';
import { navStyles } from './nav-styles.js';

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

  static override styles = [baseStyles, controlStyles, iconStyles, navStyles];

  override render() {
    return html`
      <button class="skip button primary" @click=${() => this.dispatchEvent(new CustomEvent('svc-skip'))}>
        Skip to content
      </button>
      <a class="brand" href=${paths.overview()} aria-label="svc, to the overview"
        >${brandMark(24)}<span>svc</span></a
      >
      <nav aria-label="Main">
        <ul>
          ${this.pages.map((page) => this.#renderEntry(page))}
        </ul>
      </nav>
      <div class="foot">${this.#renderConnection()} ${this.#renderThemes()} ${this.#renderWho()}</div>
    `;
  }

  #renderEntry({ name, path, navigation }: Page) {
    if (!navigation) return nothing;
    return html`<li>
      <a href=${path} aria-current=${name === this.section ? 'page' : 'false'}
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
            @click=${() => this.#onTheme(theme)}
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
      <button class="button plain icon" aria-label="Sign out" title="Sign out" @click=${this.#onSignOut}>
        ${icon('signOut')}
      </button>
    </div>`;
  }

  #onTheme(theme: Theme): void {
    setTheme(theme);
    this.theme = theme;
  }

  #onSignOut(): void {
    this.dispatchEvent(new CustomEvent('svc-sign-out'));
  }
}
