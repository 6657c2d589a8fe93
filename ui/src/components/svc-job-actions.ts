import { consume } from '@lit/context';
import type { Job } from '@svc/contract';
import { nextJobStatus } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { cancelJob, retryJob } from '../data/jobs.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import './svc-confirm.js';
import type { SvcConfirm } from './svc-confirm.js';
import { toast } from './svc-toasts.js';

/** Cancel and retry, for callers that may; fires `svc-job-changed` when something was done. */
@customElement('svc-job-actions')
export class SvcJobActions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) job!: Job;
  /** Icons without words, for a table row. */
  @property({ type: Boolean }) compact = false;
  @state() private isAsking = false;
  @state() private isBusy = false;
  @query('svc-confirm') private readonly dialog!: SvcConfirm;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        display: inline-flex;
        justify-content: flex-end;
        gap: var(--space-1);
      }
      :host([compact]) {
        --control-height: 1.75rem;
      }
      :host(:not([compact])) {
        gap: var(--space-2);
      }
      @media (pointer: coarse) {
        :host([compact]) {
          --control-height: 2.5rem;
        }
      }
    `,
  ];

  override render() {
    if (!this.who?.can_write) return nothing;
    return html`
      ${nextJobStatus(this.job.status, 'retry') ? this.#renderButton('retry', 'Retry', () => void this.#retry()) : nothing}
      ${nextJobStatus(this.job.status, 'cancelled') ? this.#renderButton('stop', 'Cancel', () => void this.#cancel()) : nothing}
      ${this.isAsking ? this.#renderQuestion() : nothing}
    `;
  }

  #renderButton(name: 'retry' | 'stop', label: string, onClick: () => void) {
    const title = `${label} ${this.job.name}`;
    if (this.compact) {
      return html`<button
        class="button plain icon"
        aria-label=${title}
        title=${label}
        ?disabled=${this.isBusy}
        @click=${onClick}
      >
        ${icon(name)}
      </button>`;
    }
    return html`<button class="button" ?disabled=${this.isBusy} @click=${onClick}>
      ${icon(name, 14)}${label}
    </button>`;
  }

  #renderQuestion() {
    return html`<svc-confirm headline="Cancel ${this.job.name}?" confirm="Cancel the job" dismiss="Keep it">
      ${
        this.job.status === 'QUEUED'
          ? 'The job is removed from the queue and will not run.'
          : 'All its processes are asked to stop, and are killed if they have not stopped within the grace period.'
      }
    </svc-confirm>`;
  }

  async #cancel(): Promise<void> {
    this.isAsking = true;
    await this.updateComplete;
    const isConfirmed = await this.dialog.ask();
    this.isAsking = false;
    if (!isConfirmed) return;
    const { name, id } = this.job;
    await this.#act(async () => {
      const { result, kill_grace_s: graceS } = await cancelJob(this.api, id);
      if (result === 'CANCELLED') return `${name} is cancelled.`;
      return `${name} is being stopped. It is killed if it still runs after ${graceS} s.`;
    });
  }

  async #retry(): Promise<void> {
    const { id } = this.job;
    await this.#act(async () => {
      const job = await retryJob(this.api, id);
      return `${job.name} is queued again as attempt ${job.attempt}.`;
    });
  }

  async #act(action: () => Promise<string>): Promise<void> {
    this.isBusy = true;
    try {
      toast(await action());
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
    this.dispatchEvent(new CustomEvent('svc-job-changed', { bubbles: true, composed: true }));
  }
}
