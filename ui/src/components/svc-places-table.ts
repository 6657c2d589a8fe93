import type { Experiment, Project, RunComparison } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { formatValue, plural } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import './svc-time.js';

/** Projects or experiments: name, what they are about, how many runs they have, and the best of these. */
@customElement('svc-places-table')
export class SvcPlacesTable extends LitElement {
  @property({ attribute: false }) places: readonly (Project | Experiment)[] = [];
  /** By the id of the experiment, of those whose runs are ranked. */
  @property({ attribute: false }) rankings: ReadonlyMap<string, RunComparison> = new Map();

  static override styles = [
    baseStyles,
    css`
      li {
        position: relative;
        display: grid;
        grid-template-columns: minmax(0, 1fr) 6rem 8rem;
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
      li:has(.place:focus-visible) {
        outline: 2px solid var(--color-focus);
        outline-offset: -2px;
      }
      a {
        color: var(--color-text);
        font-weight: var(--weight-medium);
        overflow-wrap: anywhere;
      }
      .place::after {
        content: '';
        position: absolute;
        inset: 0;
      }
      .place:hover {
        text-decoration: none;
      }
      .place:focus-visible {
        outline: none;
      }
      /* Above the link of the row. */
      .best a {
        position: relative;
        z-index: 1;
      }
      p {
        display: -webkit-box;
        overflow: hidden;
        color: var(--color-text-2);
        overflow-wrap: anywhere;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
      }
      p.best {
        display: block;
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
        (place) => renderPlace(place, this.rankings.get(place.id)),
      )}
    </ul>`;
  }
}

function renderPlace(place: Project | Experiment, ranking: RunComparison | undefined) {
  const { id, name, description, run_count: runCount, created_at: createdAt } = place;
  const href = 'project_id' in place ? paths.experiment(id) : paths.project(id);
  return html`<li>
    <div>
      <a class="place" href=${href}>${name}</a>
      ${description === '' ? nothing : html`<p>${description}</p>`} ${ranking ? renderBest(ranking) : nothing}
    </div>
    <span class="number">${plural(runCount, 'run')}</span>
    <span class="number quiet created">created <svc-time .from=${createdAt}></svc-time></span>
  </li>`;
}

function renderBest({ entries, metric, direction, tied_ids: tied }: RunComparison) {
  const best = entries.find(({ is_best: isBest }) => isBest);
  if (!best || best.best === null) return nothing;
  const others = tied.length > 1 ? `, tied with ${plural(tied.length - 1, 'other')}` : '';
  return html`<p class="best">
    Best run <a href=${paths.run(best.run_id)}><bdi>${best.name}</bdi></a
    >: ${direction === 'minimize' ? 'lowest' : 'highest'} <bdi>${metric}</bdi>
    ${formatValue(fromMetricValue(best.best))}${others}
  </p>`;
}
