import { LitElement, css, html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { ListView } from '../controllers/list.js';
import type { ListItem } from '../controllers/list-state.js';
import { RowArrows } from '../controllers/row-arrows.js';
import { CHUNK_ROWS, RowWindow } from '../controllers/row-window.js';
import { toApiError } from '../data/api.js';
import { plural } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { tableStyles } from '../styles/table-styles.js';
import { icon } from './icons.js';
import './svc-notice.js';
import './svc-skeleton.js';
import './svc-stale.js';
import { toast } from './svc-toasts.js';

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Said to screen readers alone. */
  readonly isHidden?: boolean;
}

/**
 * A list of the server in a panel: its items, or that it is loading, empty (what stands in the slot) or failed; a way to older items,
 * and to new ones that wait. With columns, whose widths are in --columns, it is a table and its items are rows, of which only those in and
 * near the window are drawn. An `endless` list loads older items by itself when its end comes near.
 */
@customElement('svc-list')
export class SvcList extends LitElement {
  @property({ attribute: false }) view!: ListView<ListItem>;
  /** What an item is: `job`. */
  @property() noun = 'item';
  @property({ attribute: false }) columns: readonly Column[] = [];
  @property({ type: Boolean }) endless = false;
  @property({ attribute: false }) renderItems: (items: readonly never[]) => TemplateResult = () => html``;

  readonly #rows = new RowWindow(this, () => this.noun);
  readonly #end = new IntersectionObserver((entries) => this.#onEnd(entries), { rootMargin: '1200px 0px' });
  #mayGoOn = true;

  constructor() {
    super();
    new RowArrows(this);
  }

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    panelStyles,
    tableStyles,
    css`
      :host {
        container-type: inline-size;
      }
      .items.old {
        opacity: 0.45;
        transition: opacity var(--duration-fast) 150ms;
      }
      .chunk + .chunk {
        border-top: 1px solid var(--color-line);
      }
      .more {
        display: grid;
        justify-items: center;
        gap: var(--space-2);
        padding: var(--space-3);
        border-top: 1px solid var(--color-line);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        text-align: center;
      }
      .fresh {
        position: sticky;
        z-index: 2;
        top: var(--space-3);
        display: flex;
        justify-content: center;
        height: 0;
      }
      .fresh .button {
        border-radius: var(--radius-full);
        border-color: transparent;
        box-shadow: var(--shadow-overlay);
        background: var(--color-overlay);
      }
      @media (max-width: 56rem) {
        .fresh {
          top: 4rem;
        }
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end.disconnect();
  }

  /** Observed anew, so that an end which is still in sight is told of again. */
  override updated(): void {
    this.#end.disconnect();
    const more = this.endless ? this.renderRoot.querySelector('.more') : null;
    if (more && !this.view.isLoadingMore && this.#mayGoOn) this.#end.observe(more);
  }

  override render() {
    const { phase, error, waiting } = this.view;
    return html`
      <svc-stale .error=${phase === 'ready' ? error : null} @svc-retry=${() => this.view.retry()}></svc-stale>
      ${waiting.length === 0 ? nothing : this.#renderFresh(waiting.length)}
      <section class="panel" aria-busy=${phase === 'loading' || phase === 'filtering' ? 'true' : 'false'}>
        ${this.#renderBody()}
      </section>
    `;
  }

  #renderBody() {
    const { phase, items, hasMore } = this.view;
    if (phase === 'failed') return this.#renderFailure();
    if (phase !== 'ready' && items.length === 0) return html`<svc-skeleton rows="8"></svc-skeleton>`;
    if (items.length === 0) return html`<slot></slot>`;
    return html`
      <div class="items ${phase === 'filtering' ? 'old' : ''}">${this.#renderTable()}</div>
      ${hasMore ? this.#renderMore() : nothing}
    `;
  }

  #renderTable() {
    const { items, hasMore } = this.view;
    if (this.columns.length === 0) return this.renderItems(items as readonly never[]);
    const chunks = Array.from({ length: Math.ceil(items.length / CHUNK_ROWS) }, (_, at) => at);
    return html`<div role="table" aria-label="${this.noun}s" aria-rowcount=${hasMore ? -1 : items.length + 1}>
      <div class="head" role="row">${this.columns.map(renderColumn)}</div>
      ${chunks.map((chunk) => this.#renderChunk(chunk))}
    </div>`;
  }

  #renderChunk(chunk: number) {
    const rows = this.view.items.slice(chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS);
    const isDrawn = this.#rows.isDrawn(chunk);
    return html`<div
      class="chunk"
      role=${isDrawn ? 'rowgroup' : 'none'}
      data-chunk=${chunk}
      .style=${isDrawn ? '' : `height: ${this.#rows.heightOf(chunk, rows.length)}px`}
    >
      ${isDrawn ? this.renderItems(rows as unknown as readonly never[]) : nothing}
    </div>`;
  }

  #renderMore() {
    const { isLoadingMore, isCut, phase } = this.view;
    return html`<div class="more">
      ${isCut ? html`<p>Fewer ${this.noun}s than usual: the server’s answer reached its size limit.</p>` : nothing}
      <button class="button" ?disabled=${isLoadingMore || phase !== 'ready'} @click=${this.#loadMore}>
        ${isLoadingMore ? 'Loading…' : `Show older ${this.noun}s`}
      </button>
    </div>`;
  }

  #renderFresh(count: number) {
    return html`<div class="fresh">
      <button class="button" @click=${this.#showWaiting}>
        ${icon('up', 14)}${plural(count, `new ${this.noun}`)}
      </button>
    </div>`;
  }

  #renderFailure() {
    return html`<svc-notice
      tone="danger"
      headline="The ${this.noun}s could not be loaded"
      action="Try again"
      @svc-action=${() => this.view.retry()}
      >${this.view.error?.message}</svc-notice
    >`;
  }

  #onEnd(entries: readonly IntersectionObserverEntry[]): void {
    const { phase, isLoadingMore } = this.view;
    if (phase === 'ready' && !isLoadingMore && entries.some(({ isIntersecting }) => isIntersecting))
      void this.#loadMore();
  }

  /** After a failure the reader asks again. */
  readonly #loadMore = async (): Promise<void> => {
    this.#mayGoOn = false;
    try {
      await this.view.loadMore();
      this.#mayGoOn = true;
      this.requestUpdate();
    } catch (error) {
      toast(toApiError(error).message, { isError: true });
    }
  };

  readonly #showWaiting = (): void => {
    this.view.showWaiting();
    window.scrollTo({ top: 0 });
  };
}

function renderColumn({ title, isNumber, isHidden }: Column) {
  return html`<span class=${isNumber ? 'number' : ''} role="columnheader"
    >${isHidden ? html`<span class="visually-hidden">${title}</span>` : title}</span
  >`;
}
