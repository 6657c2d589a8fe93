import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { flatRecord, toText } from '../data/flat-record.js';
import { formatCount, plural } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import './svc-copy.js';

/** So many entries are drawn at once; the search finds the others. */
const MOST_SHOWN = 1000;

/** A JSON object as names and values, nested ones by dotted name: searched by name and value, and copied as JSON. */
@customElement('svc-flat-record')
export class SvcFlatRecord extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) value: object = {};
  @state() private needle = '';

  static override styles = [
    baseStyles,
    controlStyles,
    dataTableStyles,
    css`
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        padding: var(--space-3) var(--space-4);
        border-bottom: 1px solid var(--color-line);
      }
      header .quiet {
        font-size: var(--text-xs);
      }
      .input {
        width: 16rem;
        margin-left: auto;
      }
      table {
        table-layout: fixed;
      }
      tr > * {
        padding: 0.25rem var(--space-4);
        vertical-align: baseline;
        overflow-wrap: anywhere;
      }
      tbody th {
        width: 40%;
        color: var(--color-text-2);
        font-weight: var(--weight-normal);
      }
      td {
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        white-space: pre-wrap;
      }
      .rest {
        padding: var(--space-3) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      @media (max-width: 40rem) {
        .input {
          width: 100%;
        }
        tr > * {
          padding-inline: var(--space-3);
        }
      }
    `,
  ];

  override render() {
    const entries = [...flatRecord(this.value)].map(([name, value]) => [name, toText(value)] as const);
    const needle = this.needle.trim().toLowerCase();
    const found = entries.filter((entry) => entry.some((text) => text.toLowerCase().includes(needle)));
    const shown = found.slice(0, MOST_SHOWN);
    return html`<header>
        <h2>${this.heading}</h2>
        <span class="quiet" role="status"
          >${needle === '' ? plural(entries.length, 'value') : `${formatCount(found.length)} of ${formatCount(entries.length)}`}</span
        >
        <svc-copy label="Copy as JSON" .text=${JSON.stringify(this.value, null, 2)}></svc-copy>
        <input
          class="input"
          type="search"
          placeholder="Search names and values"
          aria-label="Search ${this.heading}"
          spellcheck="false"
          @input=${(event: Event) => (this.needle = (event.target as HTMLInputElement).value)}
        />
      </header>
      <table aria-label=${this.heading}>
        <tbody>
          ${shown.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td>${value}</td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${found.length === 0 ? html`<p class="rest">Nothing contains “${this.needle}”.</p>` : nothing}
      ${
        found.length > shown.length
          ? html`<p class="rest">${formatCount(found.length - shown.length)} more: search for them.</p>`
          : nothing
      }`;
  }
}
