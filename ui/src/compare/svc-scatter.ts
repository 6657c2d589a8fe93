import { LitElement, css, html, nothing, svg } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';
import type { Axis } from './axes.js';
import { shortConfig } from './config-rows.js';
import { drawingStyles } from './drawing-styles.js';
import { anchorAt, ticksWithRoom } from './scale.js';
import type { ShownRun } from './shown-run.js';
import { shorten } from './svc-parallel.js';
import { Width } from './width.js';

const HEIGHT = 280;
const LEFT = 72;
const RIGHT = 24;
const TOP = 16;
const BOTTOM = 30;
const CHAR_PX = 6.5;

/** A dot for each run: a value of config to the right, the metric up. */
@customElement('svc-scatter')
export class SvcScatter extends LitElement {
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  @property({ attribute: false }) x!: Axis;
  @property({ attribute: false }) y!: Axis;
  readonly #width = new Width(this);

  static override styles = [
    baseStyles,
    drawingStyles,
    css`
      circle {
        fill: var(--run);
        stroke: var(--color-surface);
        stroke-width: 1.5;
      }
      svg:has(circle:hover) circle:not(:hover) {
        opacity: 0.25;
      }
      .note {
        padding: 0 var(--space-4) var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-xs);
      }
    `,
  ];

  override render() {
    const width = this.#width.px;
    if (width === 0) return html`<div></div>`;
    const { x, y, runs } = this;
    const xOf = (place: number) => LEFT + place * (width - LEFT - RIGHT);
    const placed = runs.flatMap((run, at) => {
      const [left, up] = [x.scale.place(x.values[at]), y.scale.place(y.values[at])];
      return left === null || up === null ? [] : [{ run, at, left, up }];
    });
    const label = `Scatter of ${y.name} against ${x.name}. The table under it has the same values.`;
    return html`<svg width=${width} height=${HEIGHT} role="img" aria-label=${label}>
        ${this.#renderGrid(xOf, width)}
        ${placed.map(
          ({ run, at, left, up }) =>
            svg`<circle cx=${xOf(left)} cy=${yOf(up)} r="5.5" .style=${`--run: ${run.color}`}>
              <title>${run.label}: ${x.name} ${shortConfig(x.values[at])}, ${y.name} ${shortConfig(y.values[at])}</title>
            </circle>`,
        )}
      </svg>
      ${placed.length < runs.length ? html`<p class="note">${runs.length - placed.length} of ${runs.length} runs are not drawn: they have no value of one of the two.</p>` : nothing}`;
  }

  #renderGrid(xOf: (place: number) => number, width: number) {
    const { kind, ticks } = this.x.scale;
    const length = width - LEFT - RIGHT;
    const room =
      kind === 'category' ? Math.floor(length / Math.max(1, ticks.length) / CHAR_PX) - 1 : Infinity;
    const shown =
      kind === 'category' ? ticks : ticksWithRoom(ticks, length, (label) => label.length * CHAR_PX);
    return svg`${this.y.scale.ticks.map(
      ({ at, label }) => svg`<line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${yOf(at)} y2=${yOf(at)} />
        <text x=${LEFT - 8} y=${yOf(at) + 4} text-anchor="end"><title>${label}</title>${shorten(label, 9)}</text>`,
    )}
    <line class="axis" x1=${LEFT - 4} x2=${width - RIGHT} y1=${HEIGHT - BOTTOM + 6} y2=${HEIGHT - BOTTOM + 6} />
    ${shown.map(
      ({ at, label }) =>
        svg`<text x=${xOf(at)} y=${HEIGHT - BOTTOM + 22} text-anchor=${anchorAt(at)}><title>${label}</title>${shorten(label, Math.max(4, room))}</text>`,
    )}`;
  }
}

function yOf(place: number): number {
  return HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);
}
