import { LitElement, css, html, nothing, svg } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { baseStyles } from '../styles/shared.js';
import type { Axis } from './axes.js';
import { drawingStyles } from './drawing-styles.js';
import type { ShownRun } from './shown-run.js';
import { Width } from './width.js';

const HEIGHT = 280;
const TOP = 40;
const BOTTOM = 14;
/** The values of the first and the last axis stand there. */
const SIDE = 72;
/** So much room a title of a few letters has; the drawing scrolls where there is less. */
const LEAST_BETWEEN = 72;
/** Between an axis and its values. */
const GAP = 6;
const MOST_TITLE = 15;
const CHAR_PX = 6.5;
const TITLE_CHAR_PX = 7;

/** Parallel coordinates: a line for each run through its values. A value that is missing leaves a gap. */
@customElement('svc-parallel')
export class SvcParallel extends LitElement {
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  @property({ attribute: false }) axes: readonly Axis[] = [];
  readonly #width = new Width(this);

  static override styles = [
    baseStyles,
    drawingStyles,
    css`
      .scroll {
        overflow-x: auto;
        overflow-y: hidden;
      }
      path {
        fill: none;
        stroke: var(--run);
        stroke-width: 1.75;
        stroke-linejoin: round;
        opacity: 0.8;
      }
      .near {
        stroke: transparent;
        stroke-width: 12;
        opacity: 1;
      }
      circle {
        fill: var(--run);
      }
      svg:has(g.run:hover) g.run:not(:hover) path:not(.near),
      svg:has(g.run:hover) g.run:not(:hover) circle {
        opacity: 0.15;
      }
      g.run:hover path:not(.near) {
        stroke-width: 3;
        opacity: 1;
      }
    `,
  ];

  override render() {
    if (this.#width.px === 0) return html`<div class="scroll"></div>`;
    const { axes } = this;
    const width = Math.max(this.#width.px, 2 * SIDE + (axes.length - 1) * LEAST_BETWEEN);
    const between = axes.length < 2 ? 0 : (width - 2 * SIDE) / (axes.length - 1);
    const xOf = (at: number) => SIDE + at * between;
    const label = `Parallel coordinates of ${axes.map(({ name }) => name).join(', ')}. The table under it has the same values.`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Parallel coordinates">
      <svg width=${width} height=${HEIGHT} role="img" aria-label=${label}>
        ${axes.map((axis, at) => renderAxis(axis, xOf(at), between))}
        ${this.runs.map((run, at) => this.#renderRun(run, at, xOf))}
        ${axes.map((axis, at) => renderLabels(axis, xOf(at), toSide(at, axes.length)))}
      </svg>
    </div>`;
  }

  #renderRun({ label, color }: ShownRun, run: number, xOf: (at: number) => number) {
    const points = this.axes.map(({ scale, values }, at) => {
      const place = scale.place(values[run]);
      return place === null ? null : { x: xOf(at), y: yOf(place) };
    });
    const isAlone = (at: number) => !points[at - 1] && !points[at + 1];
    const line = points
      .map((point, at) =>
        point ? `${points[at - 1] ? 'L' : 'M'}${point.x.toFixed(1)} ${point.y.toFixed(1)}` : '',
      )
      .join('');
    if (line === '') return nothing;
    return svg`<g class="run" .style=${`--run: ${color}`}>
      <title>${label}</title>
      <path d=${line} /><path class="near" d=${line} />
      ${points.map((point, at) => (point && isAlone(at) ? svg`<circle cx=${point.x} cy=${point.y} r="3.5" />` : nothing))}
    </g>`;
  }
}

function renderAxis({ name, isMetric, scale }: Axis, x: number, between: number) {
  const note = scale.kind === 'log' ? ' (log)' : '';
  const room = Math.min(MOST_TITLE, Math.floor(toRoom(between) / TITLE_CHAR_PX));
  return svg`<line class="axis" x1=${x} x2=${x} y1=${TOP} y2=${HEIGHT - BOTTOM} />
    <text class="title ${isMetric ? 'metric' : ''}" x=${x} y="14" text-anchor="middle">
      <title>${name}${note}</title>${shorten(name, room - note.length)}${note}
    </text>`;
}

type Side = 'before' | 'between' | 'behind';

/** Where no line begins or ends; between others there is no such place. */
function toSide(at: number, count: number): Side {
  if (at === 0) return 'before';
  return at === count - 1 ? 'behind' : 'between';
}

function renderLabels({ scale }: Axis, x: number, side: Side) {
  return scale.ticks.map(({ at, label }) => {
    const { anchor, dx, dy } = toOffset(side, at);
    const shown = shorten(label, Math.floor((SIDE - GAP) / CHAR_PX));
    return svg`<text class="label" x=${x + dx} y=${yOf(at) + dy} text-anchor=${anchor}><title>${label}</title>${shown}</text>`;
  });
}

/** Between two axes the outermost values stand above and below the lines. */
function toOffset(side: Side, place: number) {
  if (side === 'before') return { anchor: 'end', dx: -GAP, dy: 4 };
  if (side === 'between' && place === 1) return { anchor: 'middle', dx: 0, dy: -5 };
  if (side === 'between' && place === 0) return { anchor: 'middle', dx: 0, dy: 12 };
  return { anchor: 'start', dx: GAP, dy: 4 };
}

/** What a text beside an axis may take, in px. */
function toRoom(between: number): number {
  return between === 0 ? 200 : between - 10;
}

function yOf(place: number): number {
  return HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);
}

export function shorten(text: string, chars: number): string {
  const letters = [...text];
  return letters.length <= chars ? text : `${letters.slice(0, Math.max(1, chars - 1)).join('')}…`;
}
