import { consume } from '@lit/context';
import { LitElement, css, html } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { setDirection, type Direction } from '../data/metric-definitions.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { toast } from './svc-toasts.js';

const WORDS: Readonly<Record<Direction, string>> = { minimize: 'lower', maximize: 'higher' };

/** In place of a best value while nobody knows which values are good: one click says it. Fires `svc-metric-changed`. */
@customElement('svc-metric-direction')
export class SvcMetricDirection extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property() name = '';
  /** The project in which the click counts; null: everywhere. */
  @property({ attribute: false }) projectId: string | null = null;
  @state() private isBusy = false;

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        --control-height: 1.5rem;
        display: inline-flex;
        justify-content: flex-end;
        gap: var(--space-1);
      }
      .button {
        padding: 0 var(--space-2);
        font-size: var(--text-xs);
      }
      .unknown {
        color: var(--color-text-3);
      }
      @media (max-width: 40rem) {
        :host {
          flex-wrap: wrap;
        }
      }
      @media (pointer: coarse) {
        :host {
          --control-height: 2.25rem;
        }
      }
    `,
  ];

  override render() {
    if (!this.who?.can_write)
      return html`<span class="unknown" title="Nobody has set whether low or high values are better"
        >–</span
      >`;
    return (['minimize', 'maximize'] as const).map((direction) => this.#renderButton(direction));
  }

  #renderButton(direction: Direction) {
    const word = WORDS[direction];
    return html`<button
      class="button"
      aria-label="${this.name}: ${word} is better"
      title="Direction unknown: set that ${word} is better"
      ?disabled=${this.isBusy}
      @click=${() => void this.#set(direction)}
    >
      ${word}
    </button>`;
  }

  async #set(direction: Direction): Promise<void> {
    this.isBusy = true;
    try {
      const { level } = await setDirection(this.api, this.name, direction, this.projectId);
      const where = level === 'global' ? 'in every project' : `in this ${level}`;
      toast(`${this.name}: ${WORDS[direction]} is better, ${where}.`);
      this.dispatchEvent(new CustomEvent('svc-metric-changed', { bubbles: true, composed: true }));
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
  }
}
