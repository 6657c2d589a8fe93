import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { detailsStyles } from '../styles/details-styles.js';
import { baseStyles } from '../styles/shared.js';

/** A JSON object as names and values: nested objects by dotted name, everything else as JSON. */
@customElement('svc-record')
export class SvcRecord extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) value: Readonly<Record<string, unknown>> = {};
  @property({ type: Boolean }) open = false;

  static override styles = [
    baseStyles,
    detailsStyles,
    css`
      dl {
        display: grid;
        grid-template-columns: fit-content(45%) minmax(0, 1fr);
        max-height: 24rem;
        overflow-y: auto;
        border-top: 1px solid var(--color-line);
        padding: var(--space-2) var(--space-4) var(--space-3);
        gap: 0.125rem var(--space-4);
        align-items: baseline;
        font-size: var(--text-sm);
      }
      dt {
        color: var(--color-text-2);
        overflow-wrap: anywhere;
      }
      dd {
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
    `,
  ];

  override render() {
    const entries = flatten(this.value);
    if (entries.length === 0) return nothing;
    return html`<details ?open=${this.open}>
      <summary>${this.heading}<span class="count">${entries.length}</span></summary>
      <dl tabindex="0" aria-label=${this.heading}>
        ${entries.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>
    </details>`;
  }
}

function flatten(value: Readonly<Record<string, unknown>>, prefix = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, inner]): [string, string][] => {
    if (isObject(inner) && Object.keys(inner).length > 0) return flatten(inner, `${prefix}${name}.`);
    return [[prefix + name, typeof inner === 'string' ? inner : JSON.stringify(inner)]];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
