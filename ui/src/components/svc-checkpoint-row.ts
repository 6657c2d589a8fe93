import type { Checkpoint, CheckpointEntry } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatBytes, formatCount, formatValue, plural, splitPath } from '../format.js';
import { paths } from '../paths.js';
import { renderRunName } from '../run-names.js';
import { baseStyles } from '../styles/shared.js';
import { rowStyles } from '../styles/table-styles.js';
import './svc-time.js';

/** A checkpoint in a list. Fires `svc-choose` with its id when its check box is used. */
@customElement('svc-checkpoint-row')
export class SvcCheckpointRow extends LitElement {
  @property({ attribute: false }) checkpoint!: Checkpoint;
  @property() runName = '';
  /** With so many characters the names of all runs of the list begin. */
  @property({ attribute: false }) startChars = 0;
  /** By `metric`; null: unknown, or it has none. */
  @property({ attribute: false }) value: CheckpointEntry | null = null;
  @property({ attribute: false }) metric: string | null = null;
  /** Why it is the best one; empty: it is not. */
  @property() best = '';
  @property({ type: Boolean }) chosen = false;
  /** No more can be chosen. */
  @property({ type: Boolean }) full = false;

  static override styles = [
    baseStyles,
    rowStyles,
    css`
      input {
        display: block;
        width: 1rem;
        height: 1rem;
        margin: 0;
        accent-color: var(--color-accent);
      }
      .title {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
      }
      .pill {
        flex: none;
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-neutral-soft);
        color: var(--color-neutral);
        font-size: var(--text-xs);
      }
      .pill.best {
        background: var(--color-success-soft);
        color: var(--color-success);
      }
      .value .metric {
        display: none;
        color: var(--color-text-2);
      }
      .value b {
        color: var(--color-success);
        font-weight: var(--weight-strong);
      }
      .gone .name {
        color: var(--color-text-3);
        text-decoration: line-through;
      }
      @container (max-width: 50rem) {
        .row {
          grid-template:
            'choose name created' auto
            '. run value' auto / 1.5rem minmax(0, 1fr) auto;
          gap: 0.25rem var(--space-2);
          align-items: start;
          padding-block: var(--space-3);
        }
        .choose {
          grid-area: choose;
          padding-top: 2px;
        }
        .title {
          flex-wrap: wrap;
          grid-area: name;
        }
        .run {
          grid-area: run;
        }
        .name,
        .run {
          overflow-wrap: anywhere;
          white-space: normal;
        }
        .value {
          grid-area: value;
        }
        .value .metric {
          display: inline;
        }
        .created {
          grid-area: created;
        }
        .step,
        .size {
          display: none;
        }
      }
    `,
  ];

  override render() {
    const { id, path, step, size, run_id: runId, created_at: createdAt, metadata } = this.checkpoint;
    const { deleted_at: deletedAt } = this.checkpoint;
    const [, name] = splitPath(path);
    const evaluated = metadata.evaluations.length;
    return html`<div class="row ${deletedAt === null ? '' : 'gone'}" role="row">
      <div class="choose above" role="cell">
        <input
          type="checkbox"
          aria-label="Compare ${name}"
          .checked=${this.chosen}
          ?disabled=${this.full && !this.chosen}
          @change=${() => this.dispatchEvent(new CustomEvent('svc-choose', { detail: id }))}
        />
      </div>
      <div class="title" role="cell">
        <a class="name truncate" href=${paths.checkpoint(id)} title=${path}>${name}</a>
        ${evaluated === 0 ? nothing : html`<span class="pill" title=${plural(evaluated, 'evaluation')}>evaluated</span>`}
        ${this.best === '' ? nothing : html`<span class="pill best" title=${this.best}>best</span>`}
        ${deletedAt === null ? nothing : html`<span class="pill">deleted</span>`}
      </div>
      <div class="run truncate" role="cell">
        <a class="above" href=${paths.run(runId)}
          >${renderRunName({ label: this.runName, own: this.runName.slice(this.startChars) })}</a
        >
      </div>
      <div class="value number" role="cell">${this.#renderValue()}</div>
      <div class="step number" role="cell">${step === null ? '–' : formatCount(step)}</div>
      <div class="size number" role="cell">${size === null ? '–' : formatBytes(size)}</div>
      <div class="created number quiet" role="cell"><svc-time .from=${createdAt}></svc-time></div>
    </div>`;
  }

  /** On a phone, where the columns have no titles, with the name of the metric. */
  #renderValue() {
    if (this.value === null) return '–';
    const { best, best_source: source, step } = this.value;
    const shown = formatValue(fromMetricValue(best!));
    const at = step === null ? '' : ` at step ${formatCount(step)}`;
    const title = source === 'evaluation' ? 'By its evaluation' : `Logged by the training${at}`;
    return html`<span title=${title}
      ><span class="metric">${this.metric} </span>${this.best === '' ? shown : html`<b>${shown}</b>`}</span
    >`;
  }
}
