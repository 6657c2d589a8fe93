import { consume } from '@lit/context';
import type { CheckpointComparison, CheckpointEntry } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { compareCheckpoints } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { formatCount, formatValue, plural, shortId } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { icon } from './icons.js';
import './svc-skeleton.js';

/** Checkpoints, best first, by one metric. Fires `svc-choose` with the id of one that is taken out, and `svc-close`. */
@customElement('svc-checkpoint-comparison')
export class SvcCheckpointComparison extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) ids: readonly string[] = [];
  /** null: none is chosen yet. */
  @property({ attribute: false }) metric: string | null = null;
  @property({ attribute: false }) runNameOf: (runId: string) => string = shortId;

  readonly #comparison = new Loader<CheckpointComparison | null>(this, {
    load: async (signal) =>
      this.ids.length < 2 || this.metric === null
        ? null
        : compareCheckpoints(this.api, this.ids, this.metric, signal),
    everyMs: 30_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    panelStyles,
    dataTableStyles,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        padding: var(--space-2) var(--space-2) var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--color-line);
      }
      h2 {
        margin-right: auto;
      }
      .text {
        padding: var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        overflow-wrap: anywhere;
      }
      .scroll {
        max-height: 22rem;
        --control-height: 1.75rem;
      }
      th,
      td {
        padding: 0.25rem var(--space-4);
      }
      tbody th {
        overflow-wrap: anywhere;
        min-width: 9rem;
      }
      .pill {
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-success-soft);
        color: var(--color-success);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
      }
      .best {
        font-weight: var(--weight-strong);
      }
    `,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    const isAnother = changed.has('ids') && changed.get('ids')?.join() !== this.ids.join();
    if (this.hasUpdated && (isAnother || changed.has('metric'))) this.#comparison.reload();
  }

  override render() {
    return html`<section class="panel">
      <div class="bar">
        <h2>Compare ${plural(this.ids.length, 'checkpoint')}</h2>
        <button
          class="button plain icon"
          aria-label="Close the comparison"
          title="Close"
          @click=${() => this.dispatchEvent(new CustomEvent('svc-close'))}
        >
          ${icon('cross', 14)}
        </button>
      </div>
      ${this.#renderBody()}
    </section>`;
  }

  #renderBody() {
    const { value, error } = this.#comparison;
    if (this.ids.length < 2) return html`<p class="text">Choose one more to compare it with.</p>`;
    if (this.metric === null)
      return html`<p class="text" role="status">Choose a metric below by which they are compared.</p>`;
    if (error) return html`<p class="text" role="status">They cannot be compared: ${error.message}</p>`;
    if (!value) return html`<svc-skeleton rows="2"></svc-skeleton>`;
    return this.#renderTable(value);
  }

  #renderTable(comparison: CheckpointComparison) {
    const { metric, direction, protocol, entries } = comparison;
    const labels = protocol && Object.values(protocol).filter(Boolean).join(' · ');
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Checkpoints compared">
        <table>
          <thead>
            <tr>
              <th scope="col">Checkpoint</th>
              <th scope="col">Run</th>
              <th scope="col" class="number">Measured at step</th>
              <th scope="col" class="number">${metric} ${direction === 'minimize' ? '↓' : '↑'}</th>
              <th scope="col">From</th>
              <th scope="col"><span class="visually-hidden">Take out</span></th>
            </tr>
          </thead>
          <tbody>
            ${entries.map((entry) => this.#renderEntry(entry, comparison))}
          </tbody>
        </table>
      </div>
      ${labels ? html`<p class="text">The evaluations are those of ${labels}.</p>` : nothing}`;
  }

  #renderEntry(entry: CheckpointEntry, { tied_ids: tied }: CheckpointComparison) {
    const {
      checkpoint_id: id,
      run_id: runId,
      name,
      best,
      best_source: source,
      step,
      is_best: isBest,
    } = entry;
    const word = tied.length > 1 && tied.includes(id) ? 'tied' : isBest ? 'best' : null;
    return html`<tr>
      <th scope="row"><a href=${paths.checkpoint(id)}>${name}</a></th>
      <td><a href=${paths.run(runId)}>${this.runNameOf(runId)}</a></td>
      <td class="number">${step === null ? '–' : formatCount(step)}</td>
      <td class="number ${word === null ? '' : 'best'}">
        ${word === null ? nothing : html`<span class="pill">${word}</span> `}${
          best === null ? '–' : formatValue(fromMetricValue(best))
        }
      </td>
      <td class="quiet">
        ${source === null ? 'no value' : source === 'evaluation' ? 'evaluation' : 'training'}
      </td>
      <td class="number">
        <button
          class="button plain icon"
          aria-label="Take ${name} out"
          title="Take out"
          @click=${() => this.dispatchEvent(new CustomEvent('svc-choose', { detail: id }))}
        >
          ${icon('cross', 14)}
        </button>
      </td>
    </tr>`;
  }
}
