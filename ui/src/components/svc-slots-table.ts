import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { Job } from '../data/jobs.js';
import type { NodeRecord, Slot } from '../data/nodes.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { icon } from './icons.js';
import {
  celsius,
  describeDevice,
  describeMemory,
  modelOf,
  nameOfJob,
  percent,
  reasonOfSlot,
  stateOfSlot,
} from './slot-words.js';
import './svc-time.js';

/** The GPU slots of a node: who has each, whether it takes jobs and why not, and what its GPU does. */
@customElement('svc-slots-table')
export class SvcSlotsTable extends LitElement {
  @property({ attribute: false }) node!: NodeRecord;
  @property({ attribute: false }) jobs: ReadonlyMap<string, Job> = new Map();

  static override styles = [
    baseStyles,
    iconStyles,
    dataTableStyles,
    css`
      :host {
        display: block;
        container-type: inline-size;
      }
      th,
      td {
        padding: var(--space-2) var(--space-3) var(--space-2) 0;
        vertical-align: top;
      }
      tr > :first-child {
        padding-left: var(--space-4);
      }
      tr > :last-child {
        padding-right: var(--space-4);
      }
      tbody th {
        white-space: nowrap;
      }
      .sub {
        color: var(--color-text-2);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      .state {
        min-width: 10rem;
        max-width: 24rem;
      }
      .job {
        min-width: 8rem;
        max-width: 16rem;
      }
      .job a {
        display: block;
      }
      .number {
        font-variant-numeric: tabular-nums;
      }
      .phone {
        display: none;
      }
      @container (max-width: 50rem) {
        thead {
          display: none;
        }
        table,
        tbody {
          display: block;
        }
        tr {
          display: grid;
          grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr));
          padding: var(--space-2) var(--space-4);
        }
        tbody tr + tr {
          border-top: 1px solid var(--color-line);
        }
        tbody tr + tr > *,
        tr > :first-child {
          border: 0;
          padding-left: 0;
        }
        tr > * {
          padding-block: var(--space-1);
        }
        .state,
        .job {
          grid-column: span 2;
          max-width: none;
        }
        th,
        .phone {
          display: inline;
        }
        .number {
          text-align: left;
        }
        .number::before {
          display: block;
          color: var(--color-text-3);
          font-size: var(--text-xs);
          content: attr(data-title);
        }
      }
      .foreign,
      .quarantined,
      .draining {
        color: var(--color-warning);
      }
      .unhealthy,
      .offline {
        color: var(--color-danger);
      }
    `,
  ];

  override render() {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="GPU slots">
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">GPU</th>
            <th role="columnheader" scope="col">State</th>
            <th role="columnheader" scope="col">Job</th>
            <th role="columnheader" scope="col" class="number">Utilization</th>
            <th role="columnheader" scope="col" class="number">Memory</th>
            <th role="columnheader" scope="col" class="number">Temperature, power</th>
            <th role="columnheader" scope="col" class="number">Clocks</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${this.node.slots.map((slot) => this.#renderSlot(slot))}
        </tbody>
      </table>
    </div>`;
  }

  #renderSlot(slot: Slot) {
    const state = stateOfSlot(this.node, slot);
    const reason = reasonOfSlot(slot);
    const { job_id: jobId, power_w: power, sm_clock_mhz: clock, mem_clock_mhz: memoryClock } = slot;
    return html`<tr role="row">
      <th role="rowheader" scope="row" title=${slot.uuid}>
        <span class="phone">GPU </span>${slot.index}
        ${modelOf(this.node) === '' ? html`<div class="sub">${describeDevice(slot)}</div>` : nothing}
      </th>
      <td role="cell" class="state">
        <span class=${state.name}>${icon(state.icon, 14)} ${state.label}</span>
        ${reason === null ? nothing : html`<div class="sub">${this.#renderReason(reason, slot.health.since)}</div>`}
      </td>
      <td role="cell" class="job">
        ${jobId === null ? html`<span class="quiet">–</span>` : this.#renderJob(jobId)}
      </td>
      <td role="cell" class="number" data-title="Utilization">${percent(slot.utilization) ?? '–'}</td>
      <td role="cell" class="number" data-title="Memory">${describeMemory(slot) ?? '–'}</td>
      <td role="cell" class="number" data-title="Temperature, power">
        ${celsius(slot) ?? '–'}
        ${power === null ? nothing : html`<div class="sub">${Math.round(power)} W</div>`}
      </td>
      <td role="cell" class="number" data-title="Clocks">
        ${clock === null ? '–' : `${Math.round(clock)} MHz`}
        ${memoryClock === null ? nothing : html`<div class="sub">memory ${Math.round(memoryClock)} MHz</div>`}
      </td>
    </tr>`;
  }

  #renderReason(reason: string, since: number | null) {
    if (since === null) return reason;
    return html`${reason.replace(/\.$/, '')}, for <svc-time elapsed .from=${since}></svc-time>.`;
  }

  #renderJob(jobId: string) {
    const name = nameOfJob(this.jobs, jobId);
    return html`<a class="truncate" href=${paths.job(jobId)} title=${name}>${name}</a>`;
  }
}
