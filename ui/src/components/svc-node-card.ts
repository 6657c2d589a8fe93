import type { Job } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { NodeRecord, Slot } from '../data/nodes.js';
import { formatBytes, formatMegabytes, plural } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { labelStyles } from '../styles/label-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import { fact } from './record-parts.js';
import {
  celsius,
  describeDevice,
  describeProcess,
  describeSlots,
  foreignProcesses,
  describeRunner,
  isTroubled,
  joined,
  modelOf,
  nameOfJob,
  percent,
  reasonOfSlot,
  shortMemory,
  stateOfSlot,
} from './slot-words.js';
import './svc-node-actions.js';
import './svc-status.js';
import './svc-time.js';

/** A node: its state, its GPU slots and who holds them, and the host under it. */
@customElement('svc-node-card')
export class SvcNodeCard extends LitElement {
  @property({ attribute: false }) node!: NodeRecord;
  /** By id: those that hold slots. */
  @property({ attribute: false }) jobs: ReadonlyMap<string, Job> = new Map();

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    labelStyles,
    css`
      :host {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        align-content: start;
        border: 1px solid var(--color-line);
        border-radius: var(--radius-lg);
        background: var(--color-surface);
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1) var(--space-3);
        padding: var(--space-3) var(--space-4);
      }
      h2 {
        font-size: var(--text-lg);
        overflow-wrap: anywhere;
      }
      h2 a {
        color: inherit;
      }
      .beat {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .use {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 var(--space-4);
        padding: 0 var(--space-4) var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .use b {
        color: var(--color-text);
        font-weight: var(--weight-strong);
      }
      .model {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      .slots {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(6.25rem, 100%), 1fr));
        gap: var(--space-2);
        padding: 0 var(--space-4) var(--space-4);
      }
      .slot {
        position: relative;
        display: grid;
        align-content: start;
        gap: 1px;
        min-width: 0;
        padding: var(--space-2);
        border: 1px dashed var(--color-line-strong);
        border-radius: var(--radius-md);
        font-size: var(--text-xs);
      }
      .slot.busy {
        border: 1px solid transparent;
        background: var(--color-accent-soft);
      }
      .slot.troubled {
        border: 1px solid var(--color-warning);
      }
      .reasons {
        display: grid;
        gap: var(--space-1);
        padding: 0 var(--space-4) var(--space-3);
        color: var(--color-text-2);
        font-size: var(--text-xs);
        overflow-wrap: anywhere;
      }
      .reasons b {
        margin-right: var(--space-1);
        color: var(--color-warning);
        font-weight: var(--weight-medium);
      }
      .slot p {
        display: flex;
        flex-wrap: wrap;
        gap: 0 var(--space-2);
        justify-content: space-between;
      }
      .slot .figures {
        color: var(--color-text-2);
        font-variant-numeric: tabular-nums;
      }
      meter {
        width: 100%;
        height: 4px;
        margin-block: var(--space-1);
        appearance: none;
        border: 0;
        border-radius: 2px;
        background: color-mix(in srgb, var(--color-text-3) 22%, transparent);
      }
      meter::-webkit-meter-bar {
        height: 4px;
        border: 0;
        background: none;
      }
      meter::-webkit-meter-optimum-value {
        border-radius: 2px;
        background: var(--color-accent);
      }
      meter::-moz-meter-bar {
        border-radius: 2px;
        background: var(--color-accent);
      }
      .index {
        font-weight: var(--weight-strong);
      }
      .slot .who {
        color: var(--color-text-2);
      }
      .slot a::after {
        content: '';
        position: absolute;
        inset: 0;
      }
      .slot a {
        font-weight: var(--weight-medium);
      }
      dl {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
        gap: var(--space-2) var(--space-4);
        padding: var(--space-3) var(--space-4);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-sm);
      }
      dt {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      dd {
        overflow-wrap: anywhere;
      }
      .foot {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-1);
        padding: var(--space-2) var(--space-4);
        border-top: 1px solid var(--color-line);
        font-size: var(--text-xs);
      }
      .problem {
        color: var(--color-warning);
        overflow-wrap: anywhere;
      }
      svc-node-actions {
        margin-left: auto;
        --control-height: 1.75rem;
      }
    `,
  ];

  override render() {
    const { node } = this;
    return html`
      <header>
        <h2 title=${node.id}><a href=${paths.node(node.id)}>${node.name}</a></h2>
        <svc-status value=${node.status}></svc-status>
        <span class="beat">heartbeat <svc-time .from=${node.last_heartbeat_at}></svc-time></span>
      </header>
      ${this.#renderUse()} ${node.slots.length > 0 ? this.#renderSlots() : nothing} ${this.#renderSystem()}
      ${this.#renderFoot()}
    `;
  }

  #renderUse() {
    const { slots, cpu_jobs: cpuJobs, max_cpu_jobs: maxCpuJobs } = this.node;
    return html`<p class="use">
      ${slots.length > 0 ? html`<span><b>${plural(slots.length, 'GPU')}:</b> ${describeSlots(this.node)}</span>` : nothing}
      <span><b>${cpuJobs}</b> of ${plural(maxCpuJobs, 'CPU job')}</span>
      <span class="model">${modelOf(this.node)}</span>
    </p>`;
  }

  #renderSlots() {
    return html`<ul class="slots" aria-label="GPU slots">
        ${this.node.slots.map((slot) => this.#renderSlot(slot))}
      </ul>
      ${this.#renderReasons()}`;
  }

  #renderSlot(slot: Slot) {
    const state = stateOfSlot(this.node, slot);
    const device = describeDevice(slot);
    return html`<li
      class="slot ${slot.busy ? 'busy' : ''} ${isTroubled(state) ? 'troubled' : ''}"
      title="${device} · ${slot.uuid}"
    >
      <p>
        <span class="index">GPU ${slot.index}</span
        ><span class=${isTroubled(state) ? 'problem' : 'who'}>${icon(state.icon, 12)} ${state.label}</span>
      </p>
      ${slot.job_id ? html`<a class="truncate" href=${paths.job(slot.job_id)}>${nameOfJob(this.jobs, slot.job_id)}</a>` : nothing}
      ${modelOf(this.node) === '' ? html`<span class="quiet truncate">${device}</span>` : nothing}
      ${this.#renderFigures(slot)}
    </li>`;
  }

  /** Why GPUs take no job, and what else runs on those that do: each reason once, with its GPUs. */
  #renderReasons() {
    const indices = new Map<string, number[]>();
    for (const slot of this.node.slots) {
      const reason = noteOf(slot);
      if (reason !== null) indices.set(reason, [...(indices.get(reason) ?? []), slot.index]);
    }
    if (indices.size === 0) return nothing;
    return html`<ul class="reasons" aria-label="Remarks on the GPUs">
      ${[...indices].map(([reason, gpus]) => html`<li><b>GPU ${gpus.join(', ')}</b> ${reason}</li>`)}
    </ul>`;
  }

  /** What the GPU does now; nothing where nothing was measured within the last minute. */
  #renderFigures(slot: Slot) {
    const figures = [percent(slot.utilization), celsius(slot), shortMemory(slot)];
    if (figures.every((figure) => figure === null)) return nothing;
    const { index, utilization } = slot;
    return html`
      ${
        utilization === null
          ? nothing
          : html`<meter
              min="0"
              max="100"
              value=${utilization}
              aria-label="Utilization of GPU ${index}"
            ></meter>`
      }
      <p class="figures">
        ${figures.map((figure) => (figure === null ? nothing : html`<span>${figure}</span>`))}
      </p>
    `;
  }

  #renderSystem() {
    const { system, version, hostname, live } = this.node;
    const ram = live?.ram_used_mb ?? null;
    const free = live?.disk_free_gb ?? null;
    return html`<dl>
      ${fact('Host', hostname)}
      ${fact('CPU', joined([plural(system.cpu_count, 'core'), percent(live?.cpu_util), system.cpu_model]))}
      ${fact('Memory', joined([formatMegabytes(system.ram_total_mb), ram !== null && `${formatMegabytes(ram)} used`]))}
      ${
        system.disk_total_gb === undefined
          ? nothing
          : fact(
              'Disk',
              joined([
                formatBytes(system.disk_total_gb * 1e9),
                free !== null && `${formatBytes(free * 1e9)} free`,
              ]),
            )
      }
      ${system.os ? fact('System', system.os) : nothing} ${fact('Agent', version)}
    </dl>`;
  }

  #renderFoot() {
    const { labels, runners } = this.node;
    const missing = runners.filter((runner) => !runner.available);
    return html`<div class="foot">
      ${Object.entries(labels).map(([name, value]) => html`<span class="label">${name}=${value}</span>`)}
      ${runners.filter((runner) => runner.available).map((runner) => html`<span class="label" title="Runner">${describeRunner(runner)}</span>`)}
      ${missing.map(({ name, reason }) => html`<span class="problem">${icon('warning', 12)} ${name}: ${reason ?? 'not available'}</span>`)}
      <svc-node-actions .node=${this.node}></svc-node-actions>
    </div>`;
  }
}

function noteOf(slot: Slot): string | null {
  if (slot.health.state !== 'ok') return reasonOfSlot(slot);
  const foreign = foreignProcesses(slot);
  return foreign.length === 0 ? null : `Foreign: ${foreign.map(describeProcess).join(', ')}`;
}
