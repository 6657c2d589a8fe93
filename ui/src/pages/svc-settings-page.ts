import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import '../components/svc-metric-definitions.js';
import '../components/svc-notification-setting.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { listExperiments, listProjects } from '../data/projects.js';
import { shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { setSingleKeys, singleKeysAreOn } from '../preferences.js';
import { iconStyles } from '../styles/icon-styles.js';
import { settingStyles } from '../styles/setting-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { currentTheme, onThemeChange, setTheme, type Theme } from '../styles/theme.js';

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: 'auto', label: 'System' },
  { theme: 'light', label: 'Light' },
  { theme: 'dark', label: 'Dark' },
];

/** How the console looks and acts in this browser, and what metrics mean to everybody. */
@customElement('svc-settings-page')
export class SvcSettingsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private hasKeys = singleKeysAreOn();
  @state() private theme = currentTheme();
  #unfollow = (): void => {};
  readonly #places = new Loader(this, {
    load: async (signal) => {
      const [projects, experiments] = await Promise.all([
        listProjects(this.api, signal),
        listExperiments(this.api, signal),
      ]);
      return { projects, experiments };
    },
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    settingStyles,
    css`
      :host {
        max-width: 64rem;
      }
      section + section {
        margin-top: var(--space-6);
      }
      h2 {
        margin-bottom: var(--space-1);
      }
      .about {
        max-width: 48rem;
        margin-bottom: var(--space-3);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .panel > * + * {
        border-top: 1px solid var(--color-line);
      }
      .tools {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2);
        padding: var(--space-3) var(--space-4);
      }
      .tools .select {
        max-width: min(16rem, 100%);
      }
      .tools .input {
        flex: 0 1 16rem;
        margin-left: auto;
      }
      @media (max-width: 40rem) {
        .tools .input {
          flex: 1 0 100%;
          margin: 0;
        }
        .tools .select {
          flex: 1;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unfollow = onThemeChange(() => (this.theme = currentTheme()));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unfollow();
  }

  override render() {
    return html`<header class="page-head"><h1>Settings</h1></header>
      ${this.#renderBrowser()} ${this.#renderMetrics()}`;
  }

  #renderBrowser() {
    return html`<section>
      <h2>This browser</h2>
      <p class="about">Kept in this browser, for this console alone.</p>
      <div class="panel">
        <div class="setting wide">
          <div>
            <h3 id="theme">Theme</h3>
            <p>System follows what the computer is set to.</p>
          </div>
          <div class="segmented" role="group" aria-labelledby="theme">
            ${THEMES.map(
              ({ theme, label }) =>
                html`<button
                  aria-pressed=${theme === this.theme ? 'true' : 'false'}
                  @click=${() => setTheme(theme)}
                >
                  ${label}
                </button>`,
            )}
          </div>
        </div>
        <svc-notification-setting></svc-notification-setting>
        <div class="setting">
          <div>
            <h3 id="keys">Single keys</h3>
            <p>
              / to search, ? for all keys, g and a letter for a page. Turn them off if you dictate to this
              computer.
            </p>
          </div>
          <button
            class="switch"
            role="switch"
            aria-checked=${this.hasKeys ? 'true' : 'false'}
            aria-labelledby="keys"
            @click=${this.#toggleKeys}
          ></button>
        </div>
      </div>
    </section>`;
  }

  #renderMetrics() {
    const level = { project_id: this.#projectId, experiment_id: this.#experimentId };
    return html`<section>
      <h2>Metrics</h2>
      <p class="about">
        The goal of a metric says which value is its best one, and the primary metric is shown first and ranks
        runs. What is set for a project or an experiment counts there, before what is set everywhere.
      </p>
      <div class="panel">
        <div class="tools">
          ${this.#renderPlaces()}
          <input
            class="input"
            type="search"
            aria-label="Find metrics by name"
            placeholder="Find a metric"
            spellcheck="false"
            .value=${live(this.query.get('q') ?? '')}
            @input=${({ target }: InputEvent) => this.#go({ q: (target as HTMLInputElement).value }, { replace: true })}
          />
        </div>
        <svc-metric-definitions .level=${level} .text=${this.query.get('q') ?? ''}></svc-metric-definitions>
      </div>
    </section>`;
  }

  /** An experiment is of a project, so it is chosen second. */
  #renderPlaces() {
    const { projects = [], experiments = [] } = this.#places.value ?? {};
    const own = experiments.filter(({ project_id: id }) => id === this.#projectId);
    return html`${this.#renderSelect('Everywhere', 'Project', this.#projectId, projects, (project) => this.#go({ project_id: project, experiment_id: null }))}
    ${
      this.#projectId === null
        ? nothing
        : this.#renderSelect('The whole project', 'Experiment', this.#experimentId, own, (experiment) =>
            this.#go({ experiment_id: experiment }),
          )
    }`;
  }

  #renderSelect(
    all: string,
    label: string,
    chosen: string | null,
    known: readonly { id: string; name: string }[],
    choose: (id: string | null) => void,
  ) {
    const isKnown = chosen === null || known.some(({ id }) => id === chosen);
    const choices = isKnown ? known : [...known, { id: chosen, name: shortId(chosen) }];
    return html`<select
      class="select"
      aria-label=${label}
      @change=${(event: Event) => choose((event.target as HTMLSelectElement).value || null)}
    >
      <option value="" ?selected=${chosen === null}>${all}</option>
      ${choices.map(({ id, name }) => html`<option value=${id} ?selected=${id === chosen}>${name}</option>`)}
    </select>`;
  }

  get #projectId(): string | null {
    return this.query.get('project_id') || null;
  }

  get #experimentId(): string | null {
    return this.query.get('experiment_id') || null;
  }

  #toggleKeys(): void {
    setSingleKeys(!this.hasKeys);
    this.hasKeys = singleKeysAreOn();
  }

  #go(changes: Record<string, string | null>, options: { replace?: boolean } = {}): void {
    const { project_id, experiment_id, q } = {
      project_id: this.#projectId,
      experiment_id: this.#experimentId,
      q: this.query.get('q'),
      ...changes,
    };
    navigate(paths.settings({ project_id, experiment_id, q }), options);
  }
}
