import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatX, type Range, type XKind } from '../chart/axis.js';
import type { AddressWay } from '../controllers/address.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { MAX_SMOOTHING, X_KINDS, writeRange, type ChartView, type ViewChanges } from './chart-view.js';
import { icon } from './icons.js';

const MANY_CHARTS = 6;

/** How the charts below it are shown; the slot is for what a page adds. Fires `svc-view` with what somebody has changed. */
@customElement('svc-chart-controls')
export class SvcChartControls extends LitElement {
  @property({ attribute: false }) view!: ChartView;
  /** How many charts there are. */
  @property({ type: Number }) count = 0;
  @property({ type: Number }) lastStep = 0;
  /** Epochs are known. */
  @property({ type: Boolean }) epochs = false;
  /** What `time` stands for: lines of several runs begin together. */
  @property() time: XKind = 'time';
  /** What is in view, in the unit of that axis; null: all. */
  @property({ attribute: false }) rangeBy: (x: ChartView['x']) => Range | null = () => null;
  /** The state of the stream of live points; empty without one. */
  @property() stream = '';
  /** A step back leads to what was before the smoothing is changed further. */
  #isSmoothed = false;

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      :host {
        position: sticky;
        z-index: 6;
        top: 0;
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        margin-bottom: var(--space-2);
        padding-block: var(--space-2);
        background: var(--color-bg);
      }
      .live {
        display: flex;
        gap: var(--space-3);
        margin-right: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-normal);
      }
      label,
      .range {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .range .input {
        width: 4.25rem;
        padding: 0 var(--space-2);
        appearance: textfield;
      }
      .range .input::-webkit-inner-spin-button {
        display: none;
      }
      input[type='search'] {
        width: 8.5rem;
      }
      input[type='range'] {
        width: 5rem;
        accent-color: var(--color-accent);
      }
      output {
        min-width: 2.25rem;
        font-variant-numeric: tabular-nums;
      }
      .segmented button:disabled {
        color: var(--color-text-3);
        cursor: not-allowed;
      }
      @media (max-width: 90rem), (pointer: coarse) {
        .hint {
          display: none;
        }
      }
      @media (max-width: 56rem) {
        :host {
          position: static;
        }
        input[type='search'] {
          flex: 1 1 8.5rem;
        }
      }
    `,
  ];

  override render() {
    const { smoothing, isLog, search } = this.view;
    return html`<h2>Charts</h2>
      <span class="live">
        ${this.stream === '' ? nothing : html`<span>${this.stream}</span>`}
        <span class="hint">drag to zoom, double-click to reset</span>
      </span>
      <slot></slot>
      ${this.#renderRange()}
      ${
        this.count > MANY_CHARTS || search !== ''
          ? html`<input
              class="input"
              type="search"
              placeholder="Filter metrics"
              aria-label="Filter metrics"
              .value=${search}
              @input=${(event: Event) => this.#change({ search: valueOf(event) })}
            />`
          : nothing
      }
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max=${MAX_SMOOTHING}
          step="0.01"
          .value=${String(smoothing)}
          @input=${(event: Event) => this.#smooth(valueOf(event), 'hold')}
          @focus=${() => (this.#isSmoothed = false)}
          @pointerdown=${() => (this.#isSmoothed = false)}
          @change=${this.#onSmoothed}
        />
        <output>${smoothing === 0 ? 'off' : smoothing.toFixed(2)}</output>
      </label>
      <div class="segmented" role="group" aria-label="X axis">
        ${X_KINDS.map((kind) => this.#renderX(kind))}
      </div>
      <button
        class="button"
        aria-pressed=${isLog ? 'true' : 'false'}
        @click=${() => this.#change({ scale: isLog ? null : 'log' }, 'push')}
      >
        Log scale
      </button>`;
  }

  #renderX(kind: (typeof X_KINDS)[number]) {
    const isPossible = kind !== 'epoch' || this.epochs;
    return html`<button
      aria-pressed=${this.view.x === kind ? 'true' : 'false'}
      ?disabled=${!isPossible}
      title=${isPossible ? this.#describeX(kind) : 'No point tells its epoch'}
      @click=${() => this.#setX(kind)}
    >
      ${kind.charAt(0).toUpperCase() + kind.slice(1)}
    </button>`;
  }

  #describeX(kind: (typeof X_KINDS)[number]): string {
    return kind === 'time' && this.time === 'elapsed' ? 'By time since each run began' : `By ${kind}`;
  }

  /** What is in view stays; one point alone is no range. */
  #setX(kind: ChartView['x']): void {
    const range = this.rangeBy(kind);
    const zoom = writeRange(range && range[0] < range[1] ? range : null);
    this.#change({ x: kind === 'step' ? null : kind, zoom }, 'push');
  }

  /** The range in figures: for keyboard and touch, and to be exact. */
  #renderRange() {
    const { range, x } = this.view;
    if (x !== 'step') {
      if (range === null) return nothing;
      const shown = range.map((bound) => formatX(x === 'time' ? this.time : x, bound));
      return html`<span class="range">${shown[0]} – ${shown[1]} ${this.#renderReset()}</span>`;
    }
    const [from, to] = range ?? (['', ''] as const);
    const bound = (name: 'from' | 'to', placeholder: string, value: number | '') =>
      html`<input
        class="input"
        name=${name}
        type="number"
        placeholder=${placeholder}
        aria-label="${name === 'from' ? 'From' : 'To'} step"
        .value=${String(value)}
      />`;
    return html`<form
      class="range"
      aria-label="Steps shown"
      @change=${this.#onRange}
      @submit=${this.#onRange}
    >
      Steps ${bound('from', 'first', from)} – ${bound('to', 'last', to)}
      ${range === null ? nothing : this.#renderReset()}
    </form>`;
  }

  #renderReset() {
    const label = `Show all ${this.view.x === 'step' ? 'steps' : 'points'}`;
    return html`<button
      class="button plain icon"
      type="button"
      aria-label=${label}
      title=${label}
      @click=${() => this.#zoom(null)}
    >
      ${icon('cross', 14)}
    </button>`;
  }

  readonly #onRange = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const isWhole = form.get('from') === '' && form.get('to') === '';
    const from = Math.floor(Number(form.get('from')));
    const to = form.get('to') === '' ? this.lastStep : Math.ceil(Number(form.get('to')));
    this.#zoom(isWhole || from >= to ? null : [from, to]);
    this.requestUpdate();
  };

  #zoom(range: Range | null): void {
    this.#change({ zoom: writeRange(range) }, 'push');
  }

  /** A drag is one step back, and so are the keys pressed one after the other. */
  readonly #onSmoothed = (event: Event): void => {
    this.#smooth(valueOf(event), this.#isSmoothed ? 'replace' : 'push');
    this.#isSmoothed = true;
  };

  #smooth(value: string, way: AddressWay): void {
    this.#change({ smooth: Number(value) === 0 ? null : value }, way);
  }

  #change(changes: ViewChanges, way: AddressWay = 'replace'): void {
    this.dispatchEvent(new CustomEvent('svc-view', { detail: { changes, way } }));
  }
}

function valueOf(event: Event): string {
  return (event.target as HTMLInputElement).value;
}
