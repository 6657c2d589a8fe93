import type { ListedCheckpoint } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { formatBytes, formatCount, splitPath } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import './svc-copy.js';
import './svc-time.js';

/** Checkpoints of a run, newest first: of which step, where, how large, since when, which is the best, and whether their files are gone. */
@customElement('svc-checkpoints-table')
export class SvcCheckpointsTable extends LitElement {
  @property({ attribute: false }) checkpoints: readonly ListedCheckpoint[] = [];

  static override styles = [
    baseStyles,
    dataTableStyles,
    css`
      .scroll {
        border-radius: 0 0 var(--radius-lg) var(--radius-lg);
      }
      th,
      td {
        padding: 0.1875rem var(--space-4);
        white-space: nowrap;
      }
      /* The rest of the width, and no more, however long the path. */
      .where {
        width: 100%;
        max-width: 0;
      }
      /* As high with the button as without. */
      .path {
        display: flex;
        align-items: center;
        min-height: 1.75rem;
      }
      .path code {
        display: flex;
        min-width: 0;
        white-space: pre;
      }
      .folder {
        min-width: 0;
        color: var(--color-text-3);
      }
      .name {
        flex: none;
        max-width: 100%;
      }
      .folder,
      .name {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      svc-copy,
      .best,
      .deleted {
        flex: none;
      }
      .best,
      .deleted {
        margin-left: var(--space-2);
        font-size: var(--text-xs);
      }
      .best {
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-success-soft);
        color: var(--color-success);
      }
      .deleted {
        color: var(--color-warning);
      }
      .gone .name {
        color: var(--color-text-3);
        text-decoration: line-through;
      }
      @media (max-width: 40rem) {
        thead {
          display: none;
        }
        tr {
          display: grid;
          grid-template: 'step size created' auto 'path path path' auto / 1fr auto auto;
          gap: 0 var(--space-3);
          padding: var(--space-2) var(--space-4) 0.125rem;
        }
        tbody tr + tr {
          border-top: 1px solid var(--color-line);
        }
        tbody tr > *,
        tbody tr + tr > * {
          padding: 0;
          border: 0;
        }
        tbody th.number {
          grid-area: step;
          text-align: left;
        }
        tbody th::before {
          content: 'Step ';
        }
        .where {
          grid-area: path;
          max-width: none;
          min-width: 0;
        }
        .path {
          justify-content: space-between;
        }
      }
    `,
  ];

  override render() {
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Checkpoints">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Step</th>
            <th scope="col" class="where">Path</th>
            <th scope="col" class="number">Size</th>
            <th scope="col" class="number">Created</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            this.checkpoints,
            ({ id }) => id,
            (checkpoint) => renderCheckpoint(checkpoint),
          )}
        </tbody>
      </table>
    </div>`;
  }
}

function renderCheckpoint({
  id,
  step,
  path,
  size,
  created_at: createdAt,
  deleted_at: deletedAt,
  is_best: isBest,
}: ListedCheckpoint) {
  const [folder, name] = splitPath(path);
  return html`<tr class=${deletedAt === null ? '' : 'gone'} title=${id}>
    <th scope="row" class="number">${step === null ? '–' : formatCount(step)}</th>
    <td class="where">
      <div class="path">
        <code title=${path}
          ><span class="folder">${folder}</span><a class="name" href=${paths.checkpoint(id)}>${name}</a></code
        >${isBest ? html`<span class="best">best</span>` : nothing}${
          deletedAt === null
            ? html`<svc-copy label="Copy the path" .text=${path}></svc-copy>`
            : html`<span class="deleted">deleted <svc-time .from=${deletedAt}></svc-time></span>`
        }
      </div>
    </td>
    <td class="number">${size === null ? '–' : formatBytes(size)}</td>
    <td class="number quiet"><svc-time .from=${createdAt}></svc-time></td>
  </tr>`;
}
