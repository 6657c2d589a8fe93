import type { Experiment, Project } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { plural } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import './svc-time.js';

/** Projects or experiments: name, what they are about, how many runs they have. */
@customElement('svc-places-table')
export class SvcPlacesTable extends LitElement {
  @property({ attribute: false }) places: readonly (Project | Experiment)[] = [];

  static override styles = [
    baseStyles,
    css`
      li {
        position: relative;
        display: grid;
        grid-template-columns: minmax(0, 1fr) 6rem 5rem;
        gap: 0 var(--space-4);
        align-items: baseline;
        padding: var(--space-3) var(--space-4);
        font-size: var(--text-sm);
      }
      li + li {
        border-top: 1px solid var(--color-line);
      }
      li:hover {
        background: var(--color-hover);
      }
      li:has(a:focus-visible) {
        outline: 2px solid var(--color-focus);
        outline-offset: -2px;
      }
      a {
        color: var(--color-text);
        font-weight: var(--weight-medium);
        overflow-wrap: anywhere;
      }
      a::after {
        content: '';
        position: absolute;
        inset: 0;
      }
      a:hover {
        text-decoration: none;
      }
      a:focus-visible {
        outline: none;
      }
      p {
        display: -webkit-box;
        overflow: hidden;
        color: var(--color-text-2);
        overflow-wrap: anywhere;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
      }
      .number {
        text-align: right;
        white-space: nowrap;
      }
      @media (max-width: 40rem) {
        li {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .created {
          display: none;
        }
      }
    `,
  ];

  override render() {
    return html`<ul>
      ${repeat(
        this.places,
        ({ id }) => id,
        (place) => renderPlace(place),
      )}
    </ul>`;
  }
}

function renderPlace(place: Project | Experiment) {
  const { id, name, description, run_count: runCount, created_at: createdAt } = place;
  const href = 'project_id' in place ? paths.experiment(id) : paths.project(id);
  return html`<li>
    <div>
      <a href=${href}>${name}</a>
      ${description === '' ? nothing : html`<p>${description}</p>`}
    </div>
    <span class="number">${plural(runCount, 'run')}</span>
    <span class="number quiet created"><svc-time .from=${createdAt}></svc-time></span>
  </li>`;
}
