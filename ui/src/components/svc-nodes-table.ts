import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { NodeRecord, Slot } from '../data/nodes.js';
import { formatBytes, formatMegabytes } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { icon } from './icons.js';
import { isTroubled, percent, stateOfSlot } from './slot-words.js';
import './svc-node-actions.js';
import './svc-status.js';

/** Many nodes, a line each. */
@customElement('svc-nodes-table')
export class SvcNodesTable extends LitElement {
  @property({ attribute: false }) nodes: readonly NodeRecord[] = [];

  static override styles = [
    baseStyles,
    iconStyles,
    dataTableStyles,
    css`
      th,
      td {
        padding: 0 var(--space-4) 0 0;
      }
      tr > :first-child {
        padding-left: var(--space-4);
      }
      tbody tr > * {
        height: 2.625rem;
      }
      .name {
        min-width: 9rem;
        max-width: 20rem;
        overflow-wrap: anywhere;
      }
      .number {
        font-variant-numeric: tabular-nums;
      }
      .problem {
        color: var(--color-warning);
        white-space: nowrap;
      }
      svc-node-actions {
        --control-height: 1.75rem;
      }
    `,
  ];

  override render() {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Nodes">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col" class="number">GPUs busy</th>
            <th scope="col" class="number">GPU use</th>
            <th scope="col" class="number">GPU memory</th>
            <th scope="col" class="number">Hottest</th>
            <th scope="col" class="number">CPU</th>
            <th scope="col" class="number">Memory</th>
            <th scope="col" class="number">Disk free</th>
            <th scope="col"><span class="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(
            this.nodes,
            ({ id }) => id,
            (node) => this.#renderNode(node),
          )}
        </tbody>
      </table>
    </div>`;
  }

  #renderNode(node: NodeRecord) {
    const { id, name, status, slots, live } = node;
    const troubled = slots.filter((slot) => isTroubled(stateOfSlot(node, slot))).length;
    const busy = slots.filter((slot) => slot.busy).length;
    return html`<tr>
      <th scope="row" class="name"><a href=${paths.node(id)}>${name}</a></th>
      <td><svc-status value=${status}></svc-status></td>
      <td class="number">
        ${troubled === 0 ? nothing : html`<span class="problem" title="GPUs that take no job">${icon('warning', 12)} ${troubled} not usable</span> · `}${slots.length === 0 ? '–' : `${busy} of ${slots.length}`}
      </td>
      <td class="number">${percent(meanOf(slots, ({ utilization }) => utilization)) ?? '–'}</td>
      <td class="number">${sum(slots.map(({ memory_used_mb: used }) => used)) ?? '–'}</td>
      <td class="number">${hottest(slots)}</td>
      <td class="number">${percent(live?.cpu_util) ?? '–'}</td>
      <td class="number">${sum([live?.ram_used_mb ?? null]) ?? '–'}</td>
      <td class="number">${live?.disk_free_gb ? formatBytes(live.disk_free_gb * 1e9) : '–'}</td>
      <td class="number"><svc-node-actions .node=${node}></svc-node-actions></td>
    </tr>`;
  }
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function meanOf(slots: readonly Slot[], figure: (slot: Slot) => number | null): number | null {
  const values = known(slots.map(figure));
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0) / values.length;
}

/** Of MiB. */
function sum(values: readonly (number | null)[]): string | null {
  const there = known(values);
  return there.length === 0 ? null : formatMegabytes(there.reduce((total, value) => total + value, 0));
}

function hottest(slots: readonly Slot[]): string {
  const values = known(slots.map(({ temperature_c: value }) => value));
  return values.length === 0 ? '–' : `${Math.round(Math.max(...values))} °C`;
}
