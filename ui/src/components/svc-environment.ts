import { LitElement, css, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { toDiffParts, toEnvironment } from '../data/environment.js';
import { formatBytes, plural } from '../format.js';
import { detailsStyles } from '../styles/details-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import './svc-copy.js';
import './svc-record.js';

/** What a run ran in: facts, packages, and the changes that were not committed. */
@customElement('svc-environment')
export class SvcEnvironment extends LitElement {
  @property({ attribute: false }) value: object = {};
  @state() private isDiffOpen = false;

  static override styles = [
    baseStyles,
    controlStyles,
    detailsStyles,
    css`
      details {
        border-top: 1px solid var(--color-line);
      }
      .body {
        max-height: 24rem;
        overflow: auto;
        border-top: 1px solid var(--color-line);
        padding: var(--space-2) var(--space-4) var(--space-3);
      }
      .packages {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr));
        gap: 0 var(--space-4);
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      pre {
        width: max-content;
        min-width: 100%;
        margin: 0;
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        tab-size: 4;
      }
      pre span {
        display: block;
      }
      .file {
        color: var(--color-text-3);
      }
      .added {
        background: var(--color-success-soft);
        color: var(--color-success);
      }
      .removed {
        background: var(--color-danger-soft);
        color: var(--color-danger);
      }
      .note {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: var(--space-2);
        padding: 0 var(--space-2) 0 var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
    `,
  ];

  override render() {
    const { facts, packages, diff, diffCutBytes } = toEnvironment(this.value);
    return html`
      <svc-record heading="Environment" .value=${facts}></svc-record>
      ${packages.length > 0 ? this.#renderPackages(packages) : nothing}
      ${diff === '' ? nothing : this.#renderDiff(diff, diffCutBytes)}
    `;
  }

  #renderPackages(packages: readonly string[]) {
    return html`<details>
      <summary>Packages<span class="count">${packages.length}</span></summary>
      <ul class="body packages" tabindex="0" aria-label="Packages">
        ${packages.map((name) => html`<li>${name}</li>`)}
      </ul>
    </details>`;
  }

  #renderDiff(diff: string, cutBytes: number) {
    return html`<details @toggle=${this.#onToggle}>
      <summary>Uncommitted changes<span class="count">${formatBytes(diff.length)}</span></summary>
      ${
        this.isDiffOpen
          ? html`<p class="note">
                ${cutBytes > 0 ? `The last ${formatBytes(cutBytes)} were not sent.` : plural(countFiles(diff), 'file')}
                <svc-copy label="Copy the changes" .text=${diff}></svc-copy>
              </p>
              <div class="body" tabindex="0" role="group" aria-label="Uncommitted changes">
                <pre>
${toDiffParts(diff).map(({ kind, text }) => html`<span class=${kind}>${text}</span>`)}</pre>
              </div>`
          : nothing
      }
    </details>`;
  }

  readonly #onToggle = (event: Event): void => {
    this.isDiffOpen = (event.target as HTMLDetailsElement).open;
  };
}

function countFiles(diff: string): number {
  return diff.split('\n').filter((line) => line.startsWith('diff --git ')).length;
}
