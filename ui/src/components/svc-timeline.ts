import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { TimelineStep } from '../data/job-timeline.js';
import { formatDateTime } from '../format.js';
import { baseStyles } from '../styles/shared.js';
import './svc-status.js';
import './svc-time.js';

/** The states of an attempt, with when each began and how long it lasted. `details` adds to each what is to be said of it. */
@customElement('svc-timeline')
export class SvcTimeline extends LitElement {
  @property({ attribute: false }) steps: readonly TimelineStep[] = [];
  /** By the title of the step. */
  @property({ attribute: false }) details: Readonly<Record<string, string>> = {};

  static override styles = [
    baseStyles,
    css`
      ol {
        display: grid;
        grid-template-columns: repeat(4, minmax(0, 1fr));
        gap: var(--space-3) 0;
      }
      li {
        position: relative;
        min-width: 0;
        padding: var(--space-3) var(--space-4) 0 0;
        border-top: 2px solid var(--color-line-strong);
        font-size: var(--text-xs);
      }
      li::before {
        content: '';
        position: absolute;
        top: -5px;
        left: 0;
        width: 8px;
        height: 8px;
        border-radius: var(--radius-full);
        background: var(--color-neutral);
      }
      li.now {
        border-top-style: dashed;
        border-top-color: var(--color-active);
      }
      li.now::before {
        background: var(--color-active);
      }
      li.end {
        border-top-color: transparent;
      }
      b {
        display: block;
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      p {
        color: var(--color-text-2);
        overflow-wrap: anywhere;
      }
      @media (max-width: 56rem) {
        ol {
          grid-template-columns: minmax(0, 1fr);
          gap: 0;
        }
        li {
          padding: 0 0 var(--space-3) var(--space-4);
          border-top: 0;
          border-left: 2px solid var(--color-line-strong);
        }
        li::before {
          top: 4px;
          left: -5px;
        }
        li.now {
          border-left-style: dashed;
          border-left-color: var(--color-active);
        }
        li.end {
          border-left-color: transparent;
          padding-bottom: 0;
        }
      }
    `,
  ];

  override render() {
    return html`<ol>
      ${this.steps.map((step, at) => this.#renderStep(step, at === this.steps.length - 1))}
    </ol>`;
  }

  #renderStep({ title, from, to, isNow }: TimelineStep, isLast: boolean) {
    const detail = this.details[title];
    const lasted = isNow || to !== null;
    return html`<li class=${isNow ? 'now' : isLast ? 'end' : ''} aria-current=${isNow ? 'step' : nothing}>
      <b>${title}</b>
      <p>
        ${from === null ? 'time unknown' : html`<time datetime=${new Date(from).toISOString()}>${formatDateTime(from)}</time>`}
        ${lasted && from !== null ? html`<span>for <svc-time elapsed .from=${from} .to=${to}></svc-time></span>` : nothing}
      </p>
      ${detail ? html`<p>${detail}</p>` : nothing}
    </li>`;
  }
}
