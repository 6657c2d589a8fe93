import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { flatRecord, toText } from '../data/flat-record.js';
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
    const entries = [...flatRecord(this.value)];
    if (entries.length === 0) return nothing;
    return html`<details ?open=${this.open}>
      <summary>${this.heading}<span class="count">${entries.length}</span></summary>
      <dl tabindex="0" aria-label=${this.heading}>
        ${entries.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${toText(value)}</dd>`,
        )}
      </dl>
    </details>`;
  }
}
