import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { toDiffParts, toEnvironment } from '../data/environment.js';
import type { Run } from '../data/runs.js';
import { formatBytes, plural } from '../format.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import { fact } from './record-parts.js';
import './svc-copy.js';
import './svc-notice.js';

/** The commit that a run was made from, and what was changed since and not committed. */
@customElement('svc-run-code')
export class SvcRunCode extends LitElement {
  @property({ attribute: false }) run!: Run;

  static override styles = [
    baseStyles,
    panelStyles,
    css`
      .panel + .panel {
        margin-top: var(--space-4);
      }
      .facts {
        grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr));
        padding: var(--space-4);
      }
      .facts dd {
        display: flex;
        align-items: center;
        gap: var(--space-1);
        min-width: 0;
      }
      .panel-head svc-copy {
        margin-left: auto;
      }
      .count,
      .clean {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .clean {
        padding: var(--space-4);
        font-size: var(--text-sm);
      }
      .diff {
        max-height: 70vh;
        overflow: auto;
        padding-block: var(--space-2);
      }
      pre {
        width: max-content;
        min-width: 100%;
        margin: 0;
        font-family: var(--font-mono);
        font-size: var(--text-xs);
        line-height: 1.45;
        tab-size: 4;
      }
      pre span {
        display: block;
        padding: 0 var(--space-4);
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
    `,
  ];

  override render() {
    const { commit, diff, diffCutBytes } = toEnvironment(this.run.environment);
    if (!commit && diff === '')
      return html`<section class="panel">
        <svc-notice headline="No commit"
          >The Python SDK notes the commit and the uncommitted changes when svc.init() is called in a git
          repository.</svc-notice
        >
      </section>`;
    return html`${commit ? this.#renderCommit(commit) : nothing}${this.#renderChanges(diff, diffCutBytes, commit?.isDirty ?? false)}`;
  }

  #renderCommit({ id, branch, isDirty }: { id: string; branch: string | null; isDirty: boolean }) {
    return html`<section class="panel" aria-label="Commit">
      <dl class="facts">
        ${fact('Commit', html`<code>${id}</code><svc-copy label="Copy the commit" .text=${id}></svc-copy>`)}
        ${fact('Branch', branch ?? '–')} ${fact('Uncommitted changes', isDirty ? 'yes' : 'none')}
      </dl>
    </section>`;
  }

  #renderChanges(diff: string, cutBytes: number, isDirty: boolean) {
    if (diff === '') {
      if (!isDirty) return nothing;
      return html`<section class="panel">
        <p class="clean">The changes themselves were not sent.</p>
      </section>`;
    }
    const cut = cutBytes > 0 ? `, the last ${formatBytes(cutBytes)} were not sent` : '';
    return html`<section class="panel">
      <div class="panel-head">
        <h2>Uncommitted changes</h2>
        <span class="count">${plural(countFiles(diff), 'file')}, ${formatBytes(diff.length)}${cut}</span>
        <svc-copy label="Copy the changes" .text=${diff}></svc-copy>
      </div>
      <div class="diff" tabindex="0" role="group" aria-label="Uncommitted changes">
        <pre>${toDiffParts(diff).map(({ kind, text }) => html`<span class=${kind}>${text}</span>`)}</pre>
      </div>
    </section>`;
  }
}

function countFiles(diff: string): number {
  return diff.split('\n').filter((line) => line.startsWith('diff --git ')).length;
}
