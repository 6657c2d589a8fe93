import { consume } from '@lit/context';
import type { Job } from '@svc/contract';
import { nextJobStatus } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { cancelJob, retryJob } from '../data/jobs.js';
import { isolated } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon, type IconName } from './icons.js';
import { PageActions, type PageAction } from './page-actions.js';
import { ask } from './svc-confirm.js';
import { toast } from './svc-toasts.js';

/** Cancel, retry and resubmit, for callers that may; fires `svc-job-changed` when something was done. */
@customElement('svc-job-actions')
export class SvcJobActions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) job!: Job;
  /** Icons without words, for a table row. */
  @property({ type: Boolean }) compact = false;
  /** No more than Cancel, where the job is not what the page is about. */
  @property({ type: Boolean, attribute: 'cancel-only' }) cancelOnly = false;
  @state() private isBusy = false;
  #hadFocus = false;

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
        flex-wrap: wrap;
        gap: var(--space-2);
      }
      @media (pointer: coarse) {
        :host([compact]) {
          --control-height: 2.5rem;
        }
      }
    `,
  ];

  constructor() {
    super();
    new PageActions(this, () => this.#pageActions);
  }

  override willUpdate(): void {
    this.#hadFocus = this.renderRoot.contains(this.shadowRoot!.activeElement);
  }

  /** The button that was used may be gone: a job that is cancelled can be retried instead. */
  override updated(): void {
    if (this.#hadFocus && this.shadowRoot!.activeElement === null)
      this.renderRoot.querySelector<HTMLElement>('.button')?.focus();
  }

  override render() {
    if (!this.who?.can_write) return nothing;
    if (this.cancelOnly) return this.#renderCancel('Cancel job');
    const { id } = this.job;
    return html`
      ${this.#canRetry ? this.#renderButton('retry', 'Retry', () => void this.#retry()) : nothing}
      ${this.#renderLink(paths.newJob({ from: id }))} ${this.#renderCancel('Cancel')}
    `;
  }

  get #canRetry(): boolean {
    return nextJobStatus(this.job.status, 'retry') !== null;
  }

  get #canCancel(): boolean {
    return nextJobStatus(this.job.status, 'cancelled') !== null;
  }

  /** Of a job that the page is not about it offers none. */
  get #pageActions(): PageAction[] {
    if (!this.who?.can_write || this.compact || this.cancelOnly || this.isBusy) return [];
    const retry: PageAction = {
      icon: 'retry',
      label: 'Retry this job',
      words: 'again',
      choose: () => void this.#retry(),
    };
    const cancel: PageAction = {
      icon: 'stop',
      label: 'Cancel this job',
      words: 'stop end kill',
      choose: () => void this.#cancel(),
    };
    return [
      ...(this.#canRetry ? [retry] : []),
      {
        icon: 'edit',
        label: 'Resubmit this job with changes',
        choose: () => navigate(paths.newJob({ from: this.job.id })),
      },
      ...(this.#canCancel ? [cancel] : []),
    ];
  }

  #renderCancel(label: string) {
    if (!this.#canCancel) return nothing;
    return this.#renderButton('stop', label, () => void this.#cancel());
  }

  /** Not `disabled` while it works: that would take the focus from it. */
  #renderButton(name: IconName, label: string, onClick: () => void) {
    return html`<button
      class="button ${this.compact ? 'plain icon' : ''}"
      aria-label="${label} ${this.job.name}"
      title=${this.compact ? label : nothing}
      aria-disabled=${this.isBusy ? 'true' : 'false'}
      @click=${() => (this.isBusy ? undefined : onClick())}
    >
      ${icon(name, this.compact ? 16 : 14)}${this.compact ? nothing : label}
    </button>`;
  }

  #renderLink(href: string) {
    const label = 'Resubmit with changes';
    return html`<a
      class="button ${this.compact ? 'plain icon' : ''}"
      href=${href}
      aria-label="${label}: ${this.job.name}"
      title=${this.compact ? label : nothing}
      >${icon('edit', this.compact ? 16 : 14)}${this.compact ? nothing : 'Resubmit'}</a
    >`;
  }

  async #cancel(): Promise<void> {
    const { name, id, status } = this.job;
    const isConfirmed = await ask({
      headline: `Cancel ${isolated(name)}?`,
      text:
        status === 'QUEUED'
          ? 'The job is removed from the queue and will not run.'
          : 'All its processes are asked to stop, and are killed if they have not stopped within the grace period.',
      confirm: 'Cancel the job',
      dismiss: 'Keep it',
    });
    if (!isConfirmed) return;
    await this.#act(async () => {
      const { result, kill_grace_s: graceS } = await cancelJob(this.api, id);
      if (result === 'CANCELLED') return `${name} is cancelled.`;
      return `${name} is being stopped. It is killed if it still runs after ${graceS} s.`;
    });
  }

  async #retry(): Promise<void> {
    const { name, id, attempt } = this.job;
    const isConfirmed = await ask({
      headline: `Retry ${isolated(name)}?`,
      text: `The same job is queued again as attempt ${attempt + 1}, with the same command and resources, and gets a new run. To change something, resubmit it instead.`,
      confirm: 'Retry the job',
      dismiss: 'Leave it',
      tone: 'primary',
    });
    if (!isConfirmed) return;
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
