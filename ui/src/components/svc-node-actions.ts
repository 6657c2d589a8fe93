import { consume } from '@lit/context';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { toApiError, type Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, whoContext } from '../data/contexts.js';
import { drainNode, undrainNode, type NodeRecord } from '../data/nodes.js';
import { isolated } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { PageActions, type PageAction } from './page-actions.js';
import { ask, type Question } from './svc-confirm.js';
import { toast } from './svc-toasts.js';

/** Drain and undrain, for callers that may; fires `svc-node-changed` when something was done. */
@customElement('svc-node-actions')
export class SvcNodeActions extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) node!: NodeRecord;
  /** The page is about this node: the command palette offers it too. */
  @property({ type: Boolean, attribute: 'in-palette' }) inPalette = false;
  @state() private isBusy = false;

  static override styles = [
    baseStyles,
    controlStyles,
    css`
      :host {
        display: inline-flex;
      }
      .button[aria-disabled='true'] {
        color: var(--color-text-3);
      }
    `,
  ];

  constructor() {
    super();
    new PageActions(this, () => (this.inPalette && this.#isOffered ? [this.#pageAction] : []));
  }

  get #isOffered(): boolean {
    return this.who?.can_write === true && this.node.status !== 'OFFLINE';
  }

  get #pageAction(): PageAction {
    const choose = () => void this.#toggle();
    return this.node.status === 'DRAINING'
      ? { icon: 'nodes', label: 'Undrain this node', words: 'resume', choose }
      : { icon: 'nodes', label: 'Drain this node', words: 'pause maintenance', choose };
  }

  override render() {
    if (!this.#isOffered) return nothing;
    const isDraining = this.node.status === 'DRAINING';
    return html`<button
      class="button"
      title=${isDraining ? 'Let the node take jobs again' : 'Let running jobs finish and start no new ones here'}
      aria-disabled=${this.isBusy ? 'true' : 'false'}
      @click=${() => void this.#toggle()}
    >
      ${isDraining ? 'Undrain' : 'Drain'}
    </button>`;
  }

  /** The button stays in its place and able to hold the focus, also while the server is asked. */
  async #toggle(): Promise<void> {
    const { id, name, status } = this.node;
    if (this.isBusy || !(await ask(toQuestion(this.node)))) return;
    this.isBusy = true;
    try {
      if (status === 'DRAINING') {
        await undrainNode(this.api, id);
        toast(`${name} takes jobs again.`);
      } else {
        await drainNode(this.api, id);
        toast(`${name} is draining: running jobs finish, new ones start elsewhere.`);
      }
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
    this.isBusy = false;
    this.dispatchEvent(new CustomEvent('svc-node-changed', { bubbles: true, composed: true }));
  }
}

function toQuestion({ name, status }: NodeRecord): Question {
  return status === 'DRAINING'
    ? {
        headline: `Undrain ${isolated(name)}?`,
        text: 'The node takes jobs again, at once if some wait.',
        confirm: 'Undrain the node',
        dismiss: 'Back',
        tone: 'primary',
      }
    : {
        headline: `Drain ${isolated(name)}?`,
        text: 'Jobs that run there finish. New jobs start elsewhere until the node is undrained.',
        confirm: 'Drain the node',
        dismiss: 'Back',
      };
}
