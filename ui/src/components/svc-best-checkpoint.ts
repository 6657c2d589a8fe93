import { consume } from '@lit/context';
import type { BestCheckpoint } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { ApiError } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { whoContext } from '../data/contexts.js';
import { formatCount, formatValue, plural, splitPath } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { icon } from './icons.js';

/** The recommended checkpoint of a run or an experiment and why it is that one, or why there is none. */
@customElement('svc-best-checkpoint')
export class SvcBestCheckpoint extends LitElement {
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @property({ attribute: false }) best: BestCheckpoint | null = null;
  @property({ attribute: false }) error: ApiError | null = null;
  /** Of what it is the best: `experiment`. */
  @property() of = 'run';
  /** Of the run that has it, where that is one of several. */
  @property() runName = '';

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        display: flex;
        gap: var(--space-3);
        min-height: 4rem;
        padding: var(--space-3) var(--space-4);
        font-size: var(--text-sm);
      }
      .icon {
        margin-top: 0.15rem;
        color: var(--color-text-3);
      }
      .icon-flag {
        color: var(--color-success);
      }
      div {
        min-width: 0;
      }
      .name {
        font-weight: var(--weight-strong);
        overflow-wrap: anywhere;
      }
      p {
        color: var(--color-text-2);
        overflow-wrap: anywhere;
      }
      p a {
        text-decoration: underline;
        text-underline-offset: 3px;
      }
    `,
  ];

  override render() {
    if (this.best) return this.#renderBest(this.best);
    if (!this.error) return html`<p class="quiet">Looking for the best checkpoint…</p>`;
    return html`${icon('info')}
      <div>
        <span class="name">No best checkpoint of this ${this.of}</span>
        <p>${this.#renderWhyNone(this.error)}</p>
      </div>`;
  }

  /** The message of the server tells commands and routes. */
  #renderWhyNone({ code, details, message }: ApiError) {
    const metric = details['metric'];
    if (code !== 'not_found' || metric === undefined) return message;
    if (metric === null)
      return html`Checkpoints are ranked by the primary metric, and none is set.
        ${this.who?.can_write ? 'Set one in' : 'The metrics are in'}
        <a href=${paths.settings()}>Settings</a>.`;
    return html`None has a value of <b>${metric}</b>: evaluate one, or log it and save checkpoints with their
      steps.`;
  }

  #renderBest(best: BestCheckpoint) {
    const { checkpoint, tied_checkpoint_ids: tied } = best;
    const [, name] = splitPath(checkpoint.path);
    return html`${icon('flag')}
      <div>
        <a class="name" href=${paths.checkpoint(checkpoint.id)} title=${checkpoint.path}>${name}</a>
        <p>
          ${this.#renderReason(best)}
          ${best.source === 'evaluation' ? nothing : `No evaluation has measured ${best.metric}.`}
          ${tied.length > 1 ? html`${plural(tied.length, 'checkpoint')} have this value.` : nothing}
        </p>
      </div>`;
  }

  #renderReason(best: BestCheckpoint) {
    const { metric, direction, value, run_id: runId } = best;
    const extreme = direction === 'minimize' ? 'lowest' : 'highest';
    return html`Best of this ${this.of}: the ${extreme} <b>${metric}</b>, ${formatValue(value)},
      ${describeOrigin(best)}${
        this.of === 'run'
          ? '.'
          : html`, of <a href=${paths.run(runId)}><bdi>${this.runName || 'its run'}</bdi></a
              >.`
      }`;
  }
}

/** The training may have logged the value before the checkpoint was saved: the best since the checkpoint before counts. */
function describeOrigin({ source, step, value_step: valueStep }: BestCheckpoint): string {
  const at = (one: number | null): string => (one === null ? '' : ` at step ${formatCount(one)}`);
  if (source === 'evaluation') return `by its evaluation${at(step)}`;
  const saved = valueStep === step ? '' : `, and this is the next checkpoint,${at(step)}`;
  return `which the training logged${at(valueStep)}${saved}`;
}
