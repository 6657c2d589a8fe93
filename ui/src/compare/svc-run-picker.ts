import { consume } from '@lit/context';
import type { Run } from '@svc/contract';
import { LitElement, css, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { ListController } from '../controllers/list.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { readRuns } from '../data/lists.js';
import { plural } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import './svc-run-choices.js';

/** The server is asked once the typing rests. */
const TYPING_MS = 250;

/** Runs to choose from, newest first. Fires `svc-runs` with the ids that were chosen. */
@customElement('svc-run-picker')
export class SvcRunPicker extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  /** These are chosen already. */
  @property({ attribute: false }) taken: readonly string[] = [];
  /** So many can be chosen. */
  @property({ type: Number }) most = 0;
  /** What the button does: `Compare`. */
  @property() verb = 'Compare';
  @state() private chosen: ReadonlySet<string> = new Set();
  @state() private words = '';
  #typing: ReturnType<typeof setTimeout> | undefined;

  readonly #runs = new ListController<Run>(this, {
    question: () => this.words,
    read: (last, signal) => readRuns(this.api, { q: this.words.trim() }, last, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2);
        margin-bottom: var(--space-3);
      }
      .input {
        width: 16rem;
        margin-right: auto;
      }
      .count {
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      /* Stays to be read aloud: it takes back the gap before it. */
      .count:empty {
        margin-left: calc(-1 * var(--space-2));
      }
      @media (max-width: 40rem) {
        .input {
          width: 100%;
          margin: 0;
        }
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#typing);
  }

  override render() {
    return html`<div class="bar">
        <input
          class="input"
          type="search"
          aria-label="Search runs by name"
          placeholder="Search runs by name"
          spellcheck="false"
          maxlength="200"
          @input=${this.#onSearch}
        />
        <span class="count" role="status">${this.#describe()}</span>
        <button class="button primary" ?disabled=${this.chosen.size === 0} @click=${() => this.#send()}>
          ${this.chosen.size === 0 ? `${this.verb} runs` : `${this.verb} ${plural(this.chosen.size, 'run')}`}
        </button>
      </div>
      <svc-list
        noun="run"
        .view=${this.#runs.view}
        .renderItems=${(runs: readonly Run[]) =>
          html`<svc-run-choices
            .runs=${runs}
            .chosen=${this.chosen}
            .taken=${this.taken}
            .most=${this.most}
            @svc-toggle=${({ detail }: CustomEvent<string>) => this.#toggle(detail)}
          ></svc-run-choices>`}
        >${this.#renderEmpty()}</svc-list
      >`;
  }

  #describe(): string {
    if (this.chosen.size >= this.most) return `${this.most} can be chosen, no more`;
    return this.chosen.size === 0 ? '' : `${this.chosen.size} chosen`;
  }

  #renderEmpty() {
    if (this.words.trim() !== '')
      return html`<svc-notice icon="runs" headline="No run has these words in its name"></svc-notice>`;
    return html`<svc-notice
      icon="runs"
      headline="No runs yet"
      command="svc submit --follow -- python3 train.py"
      >Each training job starts a run; outside a job, svc.init() in Python starts one.</svc-notice
    >`;
  }

  #toggle(id: string): void {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(id)) chosen.add(id);
    this.chosen = chosen;
  }

  #send(): void {
    const ids = [...this.chosen];
    this.chosen = new Set();
    this.dispatchEvent(new CustomEvent('svc-runs', { detail: ids }));
  }

  readonly #onSearch = (event: Event): void => {
    const words = (event.target as HTMLInputElement).value;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => (this.words = words), TYPING_MS);
  };
}
